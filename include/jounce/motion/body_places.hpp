// The bodies at one instant, in world axes: poses, screws and inertias, as numbers. This is world_frame.hpp at order zero and in
// registers, for the articulated-body algorithm.
//
// As there, positions and moments are about a fixed point, which is where the root of the body's tree is.
#pragma once

#include "jounce/motion/motion.hpp"
#include "jounce/spatial/six.hpp"
#include "jounce/spatial/triple.hpp"

JOUNCE_BEGIN

template <class T>
class BodyPlaces {
 public:
  using Ring = ArrayRing<T, -1>;
  using V = Triple<T>;

  template <class Arena>
  BodyPlaces(const Tree& tree, const Motion<Ring>& motion, Arena& arena)
      : tree_(tree),
        motion_(motion),
        place_(arena.template take<Place>(tree.size + 1) + 1),
        point_(arena.template take<V>(tree.size + 1) + 1),
        rigid_(arena.template take<Rigid>(tree.size)) {}

  const V& column(int body, int j) const { return place_[body].c[j]; }  // of its rotation
  const V& position(int body) const { return place_[body].x; }          // from point(body)
  const V& point(int body) const { return point_[body]; }               // the fixed point

  void begin() {
    const T one(1.0), o(0.0);
    place_[-1] = {{V::of(one, o, o), V::of(o, one, o), V::of(o, o, one)}, V::zero()};
    point_[-1] = V::zero();
  }

  // To be called in order: after all earlier bodies.
  JOUNCE_INLINE void place(int i) {
    const Body& b = tree_.bodies[i];
    const Place& above = place_[b.parent];
    Place own{{turned(above, b.R), turned(above, b.R + 1), turned(above, b.R + 2)}, above.x + combined(above, b.p)};
    if constexpr (std::is_same_v<T, DoubleDouble>) {
      T R[9];
      for (int j = 0; j < 9; ++j) R[j] = own.c[j % 3][j / 3];
      straighten(R);
      for (int j = 0; j < 3; ++j) own.c[j] = V::of(R[j], R[3 + j], R[6 + j]);
    }
    if (is_ball(b.joint)) {
      place_ball(b, own);
    } else {
      if (turns(b.joint)) {
        const T c = motion_.cosine[b.v], s = motion_.sine[b.v];
        const V x = own.c[0], y = own.c[1];
        own.c[0] = V::zero(), own.c[1] = V::zero();
        own.c[0].add(c, x), own.c[1].add(c, y);
        own.c[0].add(s, y), own.c[1].add(-s, x);
      }
      if (slides(b.joint)) own.x.add(T(b.slide) * motion_.q[b.q], own.c[2]);
    }
    point_[i] = point_[b.parent];
    if (b.parent < 0) {
      point_[i] = own.x;
      own.x = V::zero();
    }
    place_[i] = own;
  }

  // Its screws, one per column.
  JOUNCE_INLINE void set_screws(int i, Six<T>* S) const {
    const Body& b = tree_.bodies[i];
    const Place& at = place_[i];
    const V none = V::zero(), &z = at.c[2];
    if (b.joint == Joint::revolute) return void(*S = Six<T>::of(cross_of(at.x, z), z));
    if (is_ball(b.joint)) return set_ball_screws(i, b, S);
    V v = b.joint == Joint::helical ? cross_of(at.x, z) : none;
    v.add(T(b.slide), z);
    *S = Six<T>::of(v, b.joint == Joint::helical ? z : none);
  }

  // The 6x6 matrix of its inertia, [m 1, -[h]; [h], tr J - J], by rows: with a = R h and the first moment h = a + m x,
  // J = (R J R^T) + h x^T + x a^T; it is what momentum() multiplies by.
  JOUNCE_INLINE void set_inertia(int i, Six<T> (&rows)[6]) {
    const Body& b = tree_.bodies[i];
    if (b.massless) {
      for (Six<T>& row : rows) row = Six<T>::zero();
      return;
    }
    const Place& at = place_[i];
    const double* J = b.second;
    const double columns[3][3] = {{J[0], J[3], J[4]}, {J[3], J[1], J[5]}, {J[4], J[5], J[2]}};
    const V a = combined(at, b.first);
    V h = a;
    h.add(T(b.mass), at.x);
    V second[3] = {V::zero(), V::zero(), V::zero()};  // by columns
    for (int k = 0; k < 3; ++k) {
      const V turned = combined(at, columns[k]);
      for (int j = 0; j < 3; ++j) second[j].add(at.c[k][j], turned);
    }
    for (int j = 0; j < 3; ++j) {
      second[j].add(at.x[j], h);
      second[j].add(a[j], at.x);
    }
    const T o(0.0), m(b.mass);
    const V trace = (second[0].template only_entry<0>() + second[1].template only_entry<1>() + second[2].template only_entry<2>()).total(),
            none = V::zero();
    const Rigid rigid{h,
                      {trace.template only_entry<0>() - second[0], trace.template only_entry<1>() - second[1],
                       trace.template only_entry<2>() - second[2]}};
    rigid_[i] = rigid;
    rows[0] = Six<T>::of(V::of(m, o, o), h.template skew<0>());
    rows[1] = Six<T>::of(V::of(o, m, o), h.template skew<1>());
    rows[2] = Six<T>::of(V::of(o, o, m), h.template skew<2>());
    rows[3] = Six<T>::of(none - h.template skew<0>(), rigid.J[0]);
    rows[4] = Six<T>::of(none - h.template skew<1>(), rigid.J[1]);
    rows[5] = Six<T>::of(none - h.template skew<2>(), rigid.J[2]);
  }
  // (m v + w x h, h x v + J w)
  JOUNCE_INLINE Six<T> momentum(int i, const Six<T>& twist) const {
    const Rigid& rigid = rigid_[i];
    const V v = twist.linear(), w = twist.angular();
    V p = cross_of(w, rigid.h), L = cross_of(rigid.h, v);
    p.add(T(tree_.bodies[i].mass), v);
    for (int j = 0; j < 3; ++j) L.add(w[j], rigid.J[j]);
    return Six<T>::of(p, L);
  }

  // Twists and wrenches of body i from world axes into its own, about its origin, and back.
  Six<T> motion_in(int i, const Six<T>& u) const { return back(place_[i], u + Six<T>::of(cross_of(u.angular(), place_[i].x), V::zero())); }
  Six<T> motion_from(int i, const Six<T>& own) const {
    const Six<T> y = turned(place_[i], own);
    return y + Six<T>::of(cross_of(place_[i].x, y.angular()), V::zero());
  }
  Six<T> wrench_in(int i, const Six<T>& F) const { return back(place_[i], F - Six<T>::of(V::zero(), cross_of(place_[i].x, F.linear()))); }
  Six<T> wrench_from(int i, const Six<T>& own) const {
    const Six<T> y = turned(place_[i], own);
    return y + Six<T>::of(V::zero(), cross_of(place_[i].x, y.linear()));
  }

  // The joint frame of a body in the world: its rotation by rows, and its position.
  void joint_frame(const Body& b, T* R, V& x) const {
    const Place& above = place_[b.parent];
    for (int c = 0; c < 3; ++c) {
      const V column = turned(above, b.R + c);
      for (int r = 0; r < 3; ++r) R[3 * r + c] = column[r];
    }
    x = above.x + combined(above, b.p);
    if (b.parent < 0) x = V::zero();  // that is the fixed point
  }

 private:
  struct Place {
    V c[3], x;
  };
  struct Rigid {
    V h, J[3];
  };

  static Six<T> turned(const Place& at, const Six<T>& u) {
    V v = V::zero(), w = V::zero();
    for (int i = 0; i < 3; ++i) v.add(u[i], at.c[i]), w.add(u[3 + i], at.c[i]);
    return Six<T>::of(v, w);
  }
  static Six<T> back(const Place& at, const Six<T>& u) {
    const V v = u.linear(), w = u.angular();
    const auto in = [&](const V& a) {
      return V::of(products(at.c[0], a).total()[0], products(at.c[1], a).total()[0], products(at.c[2], a).total()[0]);
    };
    return Six<T>::of(in(v), in(w));
  }

  // From numbers in a body's axes: a vector, and a column of a matrix whose rows are three apart.
  template <class C>
  static JOUNCE_INLINE V combined(const Place& at, const C* u) {
    V y = V::zero();
    for (int i = 0; i < 3; ++i) y.add(T(u[i]), at.c[i]);
    return y;
  }
  template <class C>
  static JOUNCE_INLINE V turned(const Place& at, const C* M) {
    V y = V::zero();
    for (int i = 0; i < 3; ++i) y.add(T(M[3 * i]), at.c[i]);
    return y;
  }

  JOUNCE_NOINLINE void place_ball(const Body& b, Place& own) const {
    T R[9], d[3];
    motion_.rotation(b, R);
    for (int i = 0; i < 3; ++i) d[i] = motion_.position(b, i);
    const Place frame = own;
    own = {{turned(frame, R), turned(frame, R + 1), turned(frame, R + 2)}, frame.x + combined(frame, d)};
  }

  JOUNCE_NOINLINE void set_ball_screws(int i, const Body& b, Six<T>* S) const {
    const Place& at = place_[i];
    if (b.joint == Joint::section) {
      for (int c = 0; c < b.count; ++c) {
        const Six<T> u = turned(at, motion_.sections.coefficient(b.screw + c, 0));
        S[c] = u + Six<T>::of(cross_of(at.x, u.angular()), V::zero());
      }
      return;
    }
    for (int j = 0; j < 3; ++j) {
      if (b.joint == Joint::free) S[j] = Six<T>::of(at.c[j], V::zero());
      S[b.joint == Joint::free ? 3 + j : j] = Six<T>::of(cross_of(at.x, at.c[j]), at.c[j]);
    }
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  Place* place_;
  V* point_;
  Rigid* rigid_;
};

JOUNCE_END
