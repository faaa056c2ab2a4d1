// Forward dynamics order by order: what the known Taylor coefficients of a motion contribute to the equation for the next one.
//
// Frames. Every body carries a frame that coincides with the world's at the instant of the expansion, about the fixed point of
// body_places.hpp. In it the screw S of a joint and the inertia I of a body are the numbers that articulated_bodies.hpp solves with,
// and stay so; nothing is rotated at order zero. In such frames, with p the parent, V a twist, h = I V a momentum and F the wrench
// through a joint (Featherstone, ch. 5; paper C, (21)),
//
//   V = Ad(E)^-1 V_p + S v,    F = h' + V x* h + sum over children of Ad(E_c)^-T F_c.
//
// E = exp(phi S) is how far the joint has moved since the instant. For a joint that turns, with s = sin phi and c = 1 - cos phi,
//
//   Ad(E)^-1 = 1 - s ad + c ad^2,   Ad(E)^-T = 1 + s ad* + c (ad*)^2,   ad V = S x V,  ad* F = S x* F;
//
// for one that slides, ad^2 = 0 and phi replaces s. Other joints have their pose in the joint frame as a series. Gravity is represented
// by a world that moves with velocity -g t.
//
// Orders. s and c begin with zeros. With A_k = (k + 1) V_(k+1), the coefficients k of the above are
//
//   A = A_p + c + S a,    F = I A + P + sum over children of F_c,    S . F = tau,
//
// in which c and P collect the contributions of the coefficients below k. This is the articulated-body problem at order zero, with the
// same matrices at every order (paper A, Lemma 2). add(i, k) sets c and P; set(i, k) takes the solution.
//
// T is double, DoubleDouble, or a Pack with one state per lane; the order is a number, not a type.
#pragma once

#include "jounce/motion/body_places.hpp"

JOUNCE_BEGIN

template <class T>
class BiasByOrder {
 public:
  using Ring = ArrayRing<T, -1>;
  using V = Triple<T>;
  static constexpr bool single = std::is_same_v<T, double>;  // one state, whose numbers fill a register together

  // To order `order`, from a motion, with room for that many coefficients of sections; places and screws at order zero.
  template <class Arena>
  BiasByOrder(const Tree& tree, Motion<Ring>& start, const BodyPlaces<T>& places, const Six<T>* screws, int order, Arena& arena)
      : tree_(tree),
        start_(start),
        places_(places),
        screws_(screws),
        sections_(start.sections),
        K_(order + 2),
        stride_(round_up(tree.slots, native_width)) {
    rate_ = arena.template take<T>(K_ * stride_);
    sine_ = arena.template take<T>(K_ * stride_);
    versine_ = arena.template take<T>(K_ * stride_);
    level_ = arena.template take<Level>((tree.size + 1) * K_) + K_;
    int general = 0;
    for (int i = 0; i < tree.size; ++i) general += !has_axis(tree.bodies[i]);
    joint_ = arena.template take<General>(general);
    general_ = arena.template take<GeneralLevel>(general * K_);
    index_ = arena.template take<int>(tree.size);
  }

  T* rate(int k) const { return rate_ + k * stride_; }  // coefficient k of the velocities, by slots
  int stride() const { return stride_; }
  const T& position(int q) const { return start_.q[q]; }
  const Six<T>& twist(int body, int k) const { return level(body, k).twist; }  // in axes fixed in the body, including that of gravity

  // From positions; rate(0) is set afterwards. `prescribed`: whether some accelerations are known.
  void start(bool prescribed) {
    prescribed_ = prescribed;
    for (int k = 0; k < K_; ++k) level(-1, k) = {Six<T>::zero(), Six<T>::zero(), Six<T>::zero()};
    level(-1, 1).twist = gravity();
    int count = 0;
    for (int i = 0; tree_.general && i < tree_.size; ++i)
      if (const Body& b = tree_.bodies[i]; !has_axis(b)) {
        index_[i] = count++;
        start_pose_in_joint(i, b);
      }
  }

  // Coefficient k of the slots behind the robot's own velocities, from the latter.
  void fill_slots(int k) {
    for (int i = 0; i < tree_.follower_count; ++i) {
      const Follower& f = tree_.followers[i];
      rate_[k * stride_ + f.v] = T(f.ratio) * rate_[k * stride_ + f.leader_v];
    }
    if (tree_.soft) sections_.extend(tree_, k, start_.q, rate_, stride_, k > 0);
  }

  // Coefficient k + 1 of the joints' motions, from velocities to order k.
  void extend(int k) {
    using P = Together<T>;  // this many columns at a time
    const P scale(reciprocal<T>(k + 1));
    for (int c = 0; c < tree_.columns; c += int(sizeof(P) / sizeof(T))) {
      const auto at = [&](T* x, int j) -> double* { return reinterpret_cast<double*>(x + j * stride_ + c); };
      P s = P::load(at(rate_, k)), versine(0.0);  // sin' = cos phi', (1 - cos)' = sin phi'; for a sliding joint phi and 0
      for (int j = 1; j <= k; ++j) {
        const P rate = P::load(at(rate_, k - j));
        s -= P::load(at(versine_, j)) * rate;
        versine += P::load(at(sine_, j)) * rate;
      }
      (scale * s).store(at(sine_, k + 1));
      if constexpr (single)
        (scale * P::load(tree_.turns + c) * versine).store(at(versine_, k + 1));
      else
        (scale * P(tree_.turns[c]) * versine).store(at(versine_, k + 1));
    }
    if (tree_.general)
      for (int i = 0; i < tree_.size; ++i)
        if (const Body& b = tree_.bodies[i]; !has_axis(b)) extend_pose_in_joint(i, b, k);
  }

  // c and P of body i at order k, P including what the body's own wrenches of lower order add to the parent's; to be called outwards.
  // `first`: k is 0, and its twist has to be set first.
  template <bool first>
  JOUNCE_INLINE void add(int i, int order, Six<T>* c, Six<T>* P) {
    const int k = first ? 0 : order;
    const Body& b = tree_.bodies[i];
    Level* own = &level(i, 0);
    if (first) {
      if (!has_axis(b)) start_general(i, b);
      own->twist = level(b.parent, 0).twist;
      if (has_axis(b))
        own->twist.add(rate_[b.v], screws_[b.screw]);
      else
        own->twist += known_twist(i, b, 0);
      own->momentum = momentum(i, b, own->twist);
    }
    if (!has_axis(b)) return add_general(i, b, k, c, P);
    const Level* above = &level(b.parent, 0);
    const T *sine = sine_ + b.v, *versine = versine_ + b.v;
    const Six<T> S = screws_[b.screw], none = Six<T>::zero();
    Six<T> twist_s = none, twist_c = none, wrench_s = none, wrench_c = none, sum = none;
    const auto carry_twist = [&](int j) JOUNCE_LAMBDA_INLINE {
      twist_s.add(sine[j * stride_], above[k + 1 - j].twist), twist_c.add(versine[j * stride_], above[k + 1 - j].twist);
    };
    const auto carry_wrench = [&](int j) JOUNCE_LAMBDA_INLINE {
      wrench_s.add(sine[j * stride_], own[k - j].wrench), wrench_c.add(versine[j * stride_], own[k - j].wrench);
    };
    const auto turn_momentum = [&](int j) JOUNCE_LAMBDA_INLINE { sum.add_wrench_cross(own[j].twist, own[k - j].momentum); };
    turn_momentum(0);
    if constexpr (single) {
      for (int j = 1; j <= k; ++j) carry_twist(j), carry_wrench(j), turn_momentum(j);
    } else {  // registers are scarce
      for (int j = 1; j <= k; ++j) carry_twist(j);
      for (int j = 1; j <= k; ++j) carry_wrench(j);
      for (int j = 1; j <= k; ++j) turn_momentum(j);
    }
    carry_twist(k + 1);
    Six<T> known = none;
    if (prescribed_) known.add(rate_[(k + 1) * stride_ + b.v], S);
    known -= motion_cross(S, first ? twist_s : twist_s - motion_cross(S, twist_c));
    c[i] = first && b.parent < 0 ? gravity() : none;
    c[i].add(T(k + 1.0), known);
    P[i] = sum.crossed();
    if (!first) P[b.parent] += wrench_cross(S, wrench_s + wrench_cross(S, wrench_c));
  }

  // An external wrench, in the body's own axes.
  Six<T> outside(int i, const V& f, const V& t) const { return places_.wrench_from(i, Six<T>::of(f, t)); }

  // Subtracts from u, by columns, the forces that wrenches of lower order exert through the screws of sections.
  void subtract_sections(int k, T* u) const {
    for (int i = 0; tree_.soft && i < tree_.size; ++i)
      if (const Body& b = tree_.bodies[i]; b.joint == Joint::section)
        for (int c = 0; c < b.count; ++c) u[b.column + c] -= section_force(i, b, c, 1, k);
  }

  // The acceleration A of body i and the wrench F through its joint, as solved for at order k; to be called outwards.
  JOUNCE_INLINE void set(int i, int k, const Six<T>& A, const Six<T>& F) {
    const Body& b = tree_.bodies[i];
    Level* own = &level(i, k);
    own[0].wrench = F;
    own[1].twist = Six<T>::zero();
    own[1].twist.add(T(reciprocal<T>(k + 1)), A);
    own[1].momentum = momentum(i, b, own[1].twist);
    if (!has_axis(b)) set_general(i, b, k, F);
  }

  // The same for the slots, with x over own coordinates; added to what rate(k + 1) already holds.
  void set_rates(int k, const T* x) {
    const T scale(reciprocal<T>(k + 1));
    T* rate = rate_ + (k + 1) * stride_;
    for (int c = 0; c < tree_.nv; ++c) rate[c] += scale * x[c];
    for (int i = 0; i < tree_.follower_count; ++i)
      rate[tree_.followers[i].v] += scale * T(tree_.followers[i].ratio) * x[tree_.followers[i].leader_v];
    for (int i = 0; tree_.soft && i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (b.joint != Joint::section) continue;
      Six<T> y = Six<T>::zero();
      for (int c = 0; c < b.count; ++c) y.add(x[b.column + c], sections_.coefficient(b.screw + c, 0));
      for (int r = 0; r < 6; ++r) rate[b.v + r] += scale * y[r];
    }
  }

  // The wrench only, for forces() below, where no further order follows.
  JOUNCE_INLINE void set_wrench(int i, int k, const Six<T>& F) {
    level(i, k).wrench = F;
    if (!has_axis(tree_.bodies[i])) general(i, k).wrench = places_.wrench_in(i, F);
  }

  // Coefficient k of the forces by columns, once everything is solved; zero where a body is not wanted.
  template <class Wanted>
  void forces(int k, T* out, const Wanted& wanted) const {
    for (int c = 0; c < tree_.columns; ++c) out[c] = T(0.0);
    for (int i = 0; i < tree_.size; ++i) {
      if (!wanted(i)) continue;
      const Body& b = tree_.bodies[i];
      for (int c = 0; c < b.count; ++c)
        out[b.column + c] += b.joint == Joint::section ? section_force(i, b, c, 0, k) : dot(screws_[b.screw + c], level(i, k).wrench);
    }
  }

  // A body's rotation (9) and position (3) in the world, coefficient k from lower ones, in `R` and `x` by order: R' = R [w], x' = R v,
  // with the twist in the body's own axes, from which the world's motion for gravity is removed. To be called after extend(k - 1).
  void extend_pose(int body, int k, T* R, T* x) const {
    if (k == 0) {
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) R[3 * r + c] = places_.column(body, c)[r];
      for (int r = 0; r < 3; ++r) x[r] = places_.point(body)[r] + places_.position(body)[r];
      return;
    }
    const auto twist = [&](int j) { return places_.motion_in(body, level(body, j).twist); };
    next_rotation(k - 1, [&](int j) { return R + 9 * j; }, [&](int j) { return vector(twist(j).angular()); }, R + 9 * k);
    const double* g = tree_.gravity;
    Vec3<T> sum = k == 2 ? Vec3<T>{T(g[0]), T(g[1]), T(g[2])} : Vec3<T>{T(0.0), T(0.0), T(0.0)};
    for (int j = 0; j < k; ++j) sum += jounce::apply(R + 9 * j, vector(twist(k - 1 - j).linear()));
    const T scale(reciprocal<T>(k));
    x[3 * k] = scale * sum.x, x[3 * k + 1] = scale * sum.y, x[3 * k + 2] = scale * sum.z;
  }

 private:
  struct Level {
    Six<T> twist, momentum;  // of the body
    Six<T> wrench;           // through its joint
  };
  // A joint that neither turns about an axis nor slides along one: in the axes of its joint frame or, where stated, the body's own.
  // Each array has one extra number.
  struct General {
    T R[10], R_transposed[10];  // the joint frame in the world
    V x;
  };
  struct GeneralLevel {
    T R[10], R_transposed[10], d[4];  // the body in the joint frame
    Six<T> twist;                     // of the joint frame, about the body's origin
    Six<T> wrench;                    // through the joint, in the body's axes
    V force;                          // the same
  };

  // The acceleration of the world that stands for gravity, at order zero.
  Six<T> gravity() const { return Six<T>::of(V::of(T(-tree_.gravity[0]), T(-tree_.gravity[1]), T(-tree_.gravity[2])), V::zero()); }
  static bool has_axis(const Body& b) { return b.joint <= Joint::prismatic; }
  Level& level(int body, int k) const { return level_[body * K_ + k]; }
  GeneralLevel& general(int body, int k) const { return general_[index_[body] * K_ + k]; }

  JOUNCE_INLINE Six<T> momentum(int i, const Body& b, const Six<T>& twist) const {
    return b.massless ? Six<T>::zero() : places_.momentum(i, twist);
  }

  // The joint's own twist, in the body's axes.
  Six<T> own_twist(const Body& b, int k) const {
    const T *v = rate_ + k * stride_ + b.v, o(0.0);
    if (is_free(b.joint)) return Six<T>::of(V::load(v), V::of(v[3], v[4], v[5]));
    if (b.joint == Joint::helical) return Six<T>::of(V::of(o, o, T(b.slide) * v[0]), V::of(o, o, v[0]));
    return Six<T>::of(V::zero(), V::of(v[0], v[1], v[2]));
  }

  static Vec3<T> vector(const V& u) { return {u[0], u[1], u[2]}; }
  static V scaled(const T& s, const V& a) {
    V y = V::zero();
    y.add(s, a);
    return y;
  }
  static void transpose(const T* R, T* to) {
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) to[3 * r + c] = R[3 * c + r];
    to[9] = T(0.0);
  }

  JOUNCE_NOINLINE void start_general(int i, const Body& b) {
    General& joint = joint_[index_[i]];
    places_.joint_frame(b, joint.R, joint.x);
    joint.R[9] = T(0.0);
    transpose(joint.R, joint.R_transposed);
  }

  JOUNCE_NOINLINE void start_pose_in_joint(int i, const Body& b) {
    GeneralLevel& at = general(i, 0);
    const T o(0.0), c = start_.cosine[b.v], s = start_.sine[b.v];
    if (b.joint == Joint::helical) {
      const T R[9] = {c, -s, o, s, c, o, o, o, T(1.0)};
      for (int r = 0; r < 9; ++r) at.R[r] = R[r];
      at.d[0] = at.d[1] = o, at.d[2] = T(b.slide) * start_.q[b.q];
    } else {
      start_.rotation(b, at.R);
      for (int r = 0; r < 3; ++r) at.d[r] = start_.position(b, r);
    }
    at.R[9] = at.d[3] = o;
    transpose(at.R, at.R_transposed);
  }

  JOUNCE_NOINLINE void extend_pose_in_joint(int i, const Body& b, int k) {
    GeneralLevel& next = general(i, k + 1);
    V d = V::zero();
    for (int j = 0; j <= k; ++j) {  // d' = R v
      const Six<T> u = own_twist(b, k - j);
      for (int c = 0; c < 3; ++c) d.add(u[c], V::load(general(i, j).R_transposed + 3 * c));
    }
    const T scale(reciprocal<T>(k + 1));
    next_rotation(k, [&](int j) { return general(i, j).R; }, [&](int j) { return vector(own_twist(b, j).angular()); }, next.R);
    next.R[9] = T(0.0);
    scaled(scale, d).store(next.d);
    transpose(next.R, next.R_transposed);
  }

  // Coefficient k of a twist of the parent in the axes of the joint frame, about the body's origin: v - d x w.
  void set_joint_twist(int i, const Body& b, int k, const Six<T>& above) {
    const General& joint = joint_[index_[i]];
    GeneralLevel& at = general(i, k);
    at.twist = sum_of_rows(joint.R, above - Six<T>::of(cross_of(joint.x, above.angular()), V::zero()));
    if (b.parent < 0 || b.joint == Joint::spherical) return;
    V moved = V::zero();
    for (int j = 0; j <= k; ++j) moved += cross_of(V::load(general(i, j).d), general(i, k - j).twist.angular());
    at.twist -= Six<T>::of(moved, V::zero());
  }

  // Coefficient k of a body's twist, minus its parent's.
  JOUNCE_NOINLINE Six<T> known_twist(int i, const Body& b, int k) {
    Six<T> y = own_twist(b, k);
    if (b.parent >= 0) {
      set_joint_twist(i, b, k, Six<T>::zero());
      for (int j = 0; j <= k; ++j) y += sum_of_rows(general(i, j).R, general(i, k - j).twist);
      if (k == 0) set_joint_twist(i, b, k, level(b.parent, k).twist);
    } else if (k > 1) {
      y += sum_of_rows(general(i, k - 1).R, general(i, 1).twist);
    } else {
      set_joint_twist(i, b, k, level(-1, k).twist);
    }
    return places_.motion_from(i, y);
  }

  // Coefficient k of its wrench on the parent, minus its own: in the axes of the joint frame f = sum R f, n = sum R n + d x f.
  JOUNCE_NOINLINE Six<T> known_wrench(int i, const Body& b, int k) {
    Six<T> y = Six<T>::zero();
    for (int j = 1; j <= k; ++j) y += sum_of_rows(general(i, j).R_transposed, general(i, k - j).wrench);
    general(i, k).force = y.linear();
    V moment = V::zero();
    for (int j = 0; j <= k && b.joint != Joint::spherical; ++j) moment += cross_of(V::load(general(i, j).d), general(i, k - j).force);
    const General& joint = joint_[index_[i]];
    y = sum_of_rows(joint.R_transposed, y + Six<T>::of(V::zero(), moment));
    return y + Six<T>::of(V::zero(), cross_of(joint.x, y.linear()));
  }

  JOUNCE_NOINLINE void add_general(int i, const Body& b, int k, Six<T>* c, Six<T>* P) {
    const Level* own = &level(i, 0);
    c[i] = k == 0 && b.parent < 0 ? gravity() : Six<T>::zero();
    c[i].add(T(k + 1.0), known_twist(i, b, k + 1));
    Six<T> sum = Six<T>::zero();
    for (int j = 0; j <= k; ++j) sum.add_wrench_cross(own[j].twist, own[k - j].momentum);
    P[i] = sum.crossed();
    if (k > 0 && b.parent >= 0) P[b.parent] += known_wrench(i, b, k);
  }

  JOUNCE_NOINLINE void set_general(int i, const Body& b, int k, const Six<T>& F) {
    GeneralLevel& at = general(i, k);
    at.wrench = places_.wrench_in(i, F);
    if (b.parent < 0) return;
    const V force = sum_of_rows(general(i, 0).R_transposed, at.wrench.linear());
    at.force = k == 0 ? force : at.force + force;
    set_joint_twist(i, b, k + 1, level(b.parent, k + 1).twist);
  }

  // For column c of a section, coefficient k of its screw times the wrench, from coefficient `from` of the screw on.
  JOUNCE_NOINLINE T section_force(int i, const Body& b, int c, int from, int k) const {
    Six<T> sum = Six<T>::zero();
    for (int j = from; j <= k; ++j) sum.add_products(sections_.coefficient(b.screw + c, j), general(i, k - j).wrench);
    return sum.total();
  }

  const Tree& tree_;
  const Motion<Ring>& start_;
  const BodyPlaces<T>& places_;
  const Six<T>* screws_;
  SectionTables<T>& sections_;
  int K_, stride_;
  bool prescribed_ = false;
  T *rate_, *sine_, *versine_;
  Level* level_;
  General* joint_;
  GeneralLevel* general_;
  int* index_;
};

JOUNCE_END
