// A motion as Taylor series, joint by joint: what an algorithm reads of q and of the velocity stack.
//
// Rows of derivatives become Taylor coefficients (row k divided by k!). The slots of whatever has no coordinates of its own are filled
// here (tree.hpp): joints that follow others, and sections of soft bodies. The series of cosine and sine of every joint that turns are
// computed for all joints at once: for a single state, joints lie side by side in the SIMD lanes; for a batch, states do.
#pragma once

#include "jounce/motion/free_axes.hpp"
#include "jounce/ring/arena.hpp"
#include "jounce/ring/ring.hpp"
#include "jounce/ring/state_lanes.hpp"
#include "jounce/ring/trigonometry.hpp"
#include "jounce/soft/sections.hpp"
#include "jounce/spatial/lie.hpp"
#include "jounce/spatial/rotation_series.hpp"
#include "jounce/spatial/vec3.hpp"
#include "jounce/tree/tree.hpp"

JOUNCE_BEGIN

constexpr int angular(const Body& b) { return b.v + (is_free(b.joint) ? 3 : 0); }

// Rotation and position of a joint that turns about any axis, in its joint frame.
template <class T>
JOUNCE_INLINE void ball_rotation(const Body& b, const T* q, const SectionTables<T>& sections, T R[9]) {
  if (b.joint != Joint::section) return rotation_of(q + b.q + (b.joint == Joint::free ? 3 : 0), R);
  for (int i = 0; i < 9; ++i) R[i] = sections.pose[12 * b.q + i];
}
template <class T>
JOUNCE_INLINE T ball_position(const Body& b, const T* q, const SectionTables<T>& sections, int i) {
  return b.joint == Joint::free ? q[b.q + i] : b.joint == Joint::section ? sections.pose[12 * b.q + 9 + i] : T(0.0);
}

// The slots of a follower: its position where from is 0, and coefficients [from, to) of its rate.
template <class T>
JOUNCE_INLINE void follow(const Follower& f, T* q, T* rate, int stride, int from, int to) {
  if (from == 0) q[f.q] = T(f.ratio) * q[f.leader_q] + T(f.offset);
  for (int k = from; k < to; ++k) rate[k * stride + f.v] = T(f.ratio) * rate[k * stride + f.leader_v];
}

inline void normalize_quaternion(DoubleDouble* u) {
  const DoubleDouble length = square_root(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
  for (int i = 0; i < 4; ++i) u[i] /= length;
}
template <class T>
JOUNCE_INLINE void normalize_quaternion(T* u) {
  T scale = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3];
  for (int s = 0; s < states((const T*)nullptr); ++s) state(scale, s) = 1 / std::sqrt(state(scale, s));
  for (int i = 0; i < 4; ++i) u[i] = scale * u[i];
}

template <class Ring>
struct Motion {
  using T = typename Ring::Coefficient;
  static constexpr int K = Ring::order + 2;
  static constexpr int width = states((const T*)nullptr);

  int stride;        // of the tables below: slots, padded where joints lie in lanes
  T* q;              // (positions)
  T* rate;           // (K, stride) coefficients of the velocities
  T *cosine, *sine;  // (K, stride)
  double* lanes;     // (slots, padded) coefficients of the velocities again, those of a slot side by side, as a LaneRing reads them
  SectionTables<T> sections;
  FreeAxes<T> free;  // for velocities given in axes other than the bodies'

  // `section_coefficients`: room for this many coefficients of the screws of sections, if that is more than K and they come one at a
  // time.
  template <class Arena>
  static JOUNCE_INLINE Motion allocate(const Tree& tree, Arena& arena, int section_coefficients = 0) {
    Motion m;
    m.stride = width > 1 ? tree.slots : round_up(tree.slots, native_width) + native_width;
    m.q = arena.template take<T>(tree.positions);
    m.rate = arena.template take<T>(K * m.stride);
    m.cosine = arena.template take<T>(K * m.stride);
    m.sine = arena.template take<T>(K * m.stride);
    m.lanes = arena.template take<double>(Ring::in_lanes ? tree.slots * Ring::padded : 0);
    m.sections = SectionTables<T>::allocate(tree, section_coefficients > Ring::padded ? section_coefficients : Ring::padded,
                                            section_coefficients > 0, arena);
    m.free = FreeAxes<T>(tree, K, arena);
    return m;
  }

  // Reads states [begin, begin + count) and their `rows` <= K rows of velocity; missing rows are zero.
  // `In` has q, v, rest (pointers: v is row 0, `rest` the rows from 1 on), q_step, v_step, rest_step (between states) and the axes of v.
  template <class In>
  void read(const Tree& tree, const In& in, std::ptrdiff_t begin, int count, int rows) {
    load_states(in.q + begin * in.q_step, in.q_step, count, tree.nq, q);
    for (int j = 0; j < tree.quaternion_count; ++j) normalize_quaternion(q + tree.quaternions[j]);
    read_rates(tree, in, begin, count, rows);
    if (in.axes != Axes::body && tree.free_joint_count > 0) {
      free.start(q);
      for (int k = 0; k < rows; ++k) free.change_twists(k, in.axes, Axes::body, rate + k * stride);
    }
    if (tree.slots > tree.nv) fill_slots(tree);
    if constexpr (std::is_same_v<T, double>)
      turn_joints(tree);
    else
      turn_states(tree);
    if constexpr (Ring::in_lanes)
      for (int j = 0; j < tree.slots; ++j)
        for (int k = 0; k < Ring::padded; ++k) lanes[j * Ring::padded + k] = k < K ? rate[k * stride + j] : 0.0;
  }

  // The same at order zero for one state, and only for a body and those that carry it.
  template <class In>
  void read_path(const Tree& tree, const In& in, std::ptrdiff_t begin, int body)
    requires(K == 1 && width == 1)
  {
    load_states(in.q + begin * in.q_step, in.q_step, 1, tree.nq, q);
    for (int j = 0; j < tree.quaternion_count; ++j) normalize_quaternion(q + tree.quaternions[j]);
    if (tree.slots > tree.nv) fill_slots(tree);
    int columns[native_width], count = 0;
    double angle[native_width] = {};
    const auto turn = [&] {
      Pack<native_width> s, c;
      sincos(Pack<native_width>::load(angle), s, c);
      for (int j = 0; j < count; ++j) sine[columns[j]] = s[j], cosine[columns[j]] = c[j];
      count = 0;
    };
    for (int i = body; i >= 0; i = tree.bodies[i].parent) {
      const Body& b = tree.bodies[i];
      if (!turns(b.joint)) continue;
      angle[count] = q[b.q];
      columns[count++] = b.v;
      if (count == native_width) turn();
    }
    if (count > 0) turn();
  }

  template <class In>
  JOUNCE_INLINE void read_rates(const Tree& tree, const In& in, std::ptrdiff_t begin, int count, int rows) {
    if (rows > 0) load_states(in.v + begin * in.v_step, in.v_step, count, tree.nv, rate);
    const double* rest = in.rest + begin * in.rest_step;
    if (width > 1 && rows > 1 && stride == tree.nv)
      load_states(rest, in.rest_step, count, (rows - 1) * tree.nv, rate + stride);
    else
      for (int k = 1; k < rows; ++k) load_states(rest + (k - 1) * tree.nv, in.rest_step, count, tree.nv, rate + k * stride);
    for (int k = 2; k < rows; ++k)
      for (int j = 0; j < tree.nv; ++j) rate[k * stride + j] = T(factorial.inverse[k]) * rate[k * stride + j];
    for (int k = 0; k < K; ++k)
      for (int j = k < rows ? tree.nv : 0; j < stride; ++j) rate[k * stride + j] = T(0.0);
  }

  // Fills what follows from the robot's own coordinates.
  JOUNCE_NOINLINE void fill_slots(const Tree& tree) {
    for (int i = 0; i < tree.follower_count; ++i) follow(tree.followers[i], q, rate, stride, 0, K);
    if (tree.soft) sections.fill(tree, K, q, rate, stride);
  }

  // Cosine and sine of one state: its joints side by side.
  JOUNCE_INLINE void turn_joints(const Tree& tree) {
    T* angle = sine;  // its first row, until the series overwrites it
    for (int j = 0; j < stride; ++j) angle[j] = T(0.0);
    for (int i = 0; i < tree.size; ++i) {
      const Body& b = tree.bodies[i];
      if (turns(b.joint)) angle[b.v] = q[b.q];
    }
    for (int j = 0; j < tree.columns; j += native_width)
      sincos_series<K>(Pack<native_width>::load(angle + j), rate + j, sine + j, cosine + j, stride);
  }

  // Joint by joint; of several states these side by side.
  JOUNCE_INLINE void turn_states(const Tree& tree) {
    for (int i = 0; i < tree.size; ++i) {
      const Body& b = tree.bodies[i];
      if (turns(b.joint))
        sincos_series<K>(q[b.q], lane(rate + b.v), lane(sine + b.v), lane(cosine + b.v), stride * int(sizeof(T) / sizeof(double)));
    }
  }
  static JOUNCE_INLINE double* lane(T* x) { return reinterpret_cast<double*>(x); }

  JOUNCE_INLINE typename Ring::Velocity velocity(int column) const {
    if constexpr (Ring::in_lanes)
      return Ring::Velocity::load(lanes + column * Ring::padded);
    else
      return Ring::Velocity::load(rate + column, stride);
  }
  JOUNCE_INLINE Vec3<typename Ring::Velocity> velocity3(int column) const {
    return {velocity(column), velocity(column + 1), velocity(column + 2)};
  }
  JOUNCE_INLINE FactorView<T> velocity_factor(int column) const { return {rate + column, stride}; }
  JOUNCE_INLINE FactorView<T> cos(int column) const { return {cosine + column, stride}; }
  JOUNCE_INLINE FactorView<T> sin(int column) const { return {sine + column, stride}; }

  // The coordinate itself, of a joint that has one: q_{k+1} = v_k / (k + 1).
  JOUNCE_INLINE Series<T, K> position_factor(const Body& b) const {
    Series<T, K> y;
    y.c[0] = q[b.q];
    for (int k = 0; k + 1 < K; ++k) y.c[k + 1] = T(1.0 / (k + 1)) * rate[k * stride + b.v];
    return y;
  }

  // Where the angular velocity of a joint that turns about any axis is; its current rotation and position.
  JOUNCE_INLINE int angular(const Body& b) const { return jounce::angular(b); }
  JOUNCE_INLINE void rotation(const Body& b, T R[9]) const { ball_rotation(b, q, sections, R); }
  JOUNCE_INLINE T position(const Body& b, int i) const { return ball_position(b, q, sections, i); }
};

// The motion of a joint that turns about any axis as series: R(t) and, if it also moves, the position d(t), in the joint frame.
template <class Ring>
struct BallMotion {
  using T = typename Ring::Coefficient;
  static constexpr int K = Ring::order + 2;
  T R[3][3][Ring::padded], d[3][Ring::padded];

  JOUNCE_INLINE BallMotion(const Motion<Ring>& motion, const Body& b) {
    T R0[9];
    motion.rotation(b, R0);
    for (int i = 0; i < 3; ++i) fixed_vector_series<K>(R0 + 3 * i, motion.rate + motion.angular(b), motion.stride, R[i]);
    for (int i = 0; i < 3; ++i) d[i][0] = motion.position(b, i);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k + 1 < K; ++k) {  // d' = R v
        T sum(0.0);
        if (is_free(b.joint))
          for (int j = 0; j <= k; ++j) {
            const T* v = motion.rate + (k - j) * motion.stride + b.v;
            sum += R[i][0][j] * v[0] + R[i][1][j] * v[1] + R[i][2][j] * v[2];
          }
        d[i][k + 1] = T(1.0 / (k + 1)) * sum;
      }
  }

  JOUNCE_INLINE FactorView<T> entry(int i, int j) const { return {R[i][j], 1}; }
  JOUNCE_INLINE FactorView<T> position(int i) const { return {d[i], 1}; }

  template <class S>
  JOUNCE_INLINE Vec3<S> turn(const Vec3<S>& u) const {
    return {entry(0, 0) * u.x + entry(0, 1) * u.y + entry(0, 2) * u.z, entry(1, 0) * u.x + entry(1, 1) * u.y + entry(1, 2) * u.z,
            entry(2, 0) * u.x + entry(2, 1) * u.y + entry(2, 2) * u.z};
  }
  template <class S>
  JOUNCE_INLINE Vec3<S> turn_back(const Vec3<S>& u) const {
    return {entry(0, 0) * u.x + entry(1, 0) * u.y + entry(2, 0) * u.z, entry(0, 1) * u.x + entry(1, 1) * u.y + entry(2, 1) * u.z,
            entry(0, 2) * u.x + entry(1, 2) * u.y + entry(2, 2) * u.z};
  }
  // d x u
  template <class S>
  JOUNCE_INLINE Vec3<S> position_cross(const Vec3<S>& u) const {
    return {position(1) * u.z - position(2) * u.y, position(2) * u.x - position(0) * u.z, position(0) * u.y - position(1) * u.x};
  }
};

JOUNCE_END
