// The bodies at one instant, in world axes: poses, screws and inertias, as numbers. What world_frame.hpp has as series, at order zero and
// in registers, for the articulated-body algorithm.
//
// As there, positions and moments are about a fixed point, which is where the root of a body's tree is.
#pragma once

#include "jounce/motion.hpp"
#include "jounce/six.hpp"
#include "jounce/triple.hpp"

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
        point_(arena.template take<V>(tree.size + 1) + 1) {}

  const V& column(int body, int j) const { return place_[body].c[j]; }  // of its rotation
  const V& position(int body) const { return place_[body].x; }          // from point(body)
  const V& point(int body) const { return point_[body]; }               // the fixed point

  void begin() {
    const T one(1.0), o(0.0);
    place_[-1] = {{V::of(one, o, o), V::of(o, one, o), V::of(o, o, one)}, V::zero()};
    point_[-1] = V::zero();
  }

  // After those before it.
  JOUNCE_INLINE void place(int i) {
    const Body& b = tree_.bodies[i];
    const Place& above = place_[b.parent];
    Place own{{turned(above, b.R), turned(above, b.R + 1), turned(above, b.R + 2)}, above.x + combined(above, b.p)};
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

  // Its screws, one for each column.
  JOUNCE_INLINE void set_screws(int i, Six<T>* S) const {
    const Body& b = tree_.bodies[i];
    const Place& at = place_[i];
    const V none = V::zero(), &z = at.c[2];
    if (b.joint == Joint::revolute) return S->set(cross_of(at.x, z), z);
    if (is_ball(b.joint)) return set_ball_screws(i, b, S);
    V v = b.joint == Joint::helical ? cross_of(at.x, z) : none;
    v.add(T(b.slide), z);
    S->set(v, b.joint == Joint::helical ? z : none);
  }

  // The 6x6 matrix of its inertia, [m 1, -[h]; [h], tr J - J], by rows: with a = R h and the first moment h = a + m x,
  // J = (R J R^T) + h x^T + x a^T.
  JOUNCE_INLINE void set_inertia(int i, Six<T> (&rows)[6]) const {
    const Body& b = tree_.bodies[i];
    if (b.massless) {
      for (Six<T>& row : rows) row.clear();
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
    rows[0].set(V::of(m, o, o), h.template skew<0>());
    rows[1].set(V::of(o, m, o), h.template skew<1>());
    rows[2].set(V::of(o, o, m), h.template skew<2>());
    rows[3].set(none - h.template skew<0>(), trace.template only_entry<0>() - second[0]);
    rows[4].set(none - h.template skew<1>(), trace.template only_entry<1>() - second[1]);
    rows[5].set(none - h.template skew<2>(), trace.template only_entry<2>() - second[2]);
  }

 private:
  struct Place {
    V c[3], x;
  };

  // Of numbers in a body's axes: a vector, and the column of a matrix whose rows are three apart.
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
        T u[6];
        for (int r = 0; r < 6; ++r) u[r] = motion_.sections.factor(b.screw + c, r)[0];
        const V w = combined(at, u + 3);
        S[c].set(combined(at, u) + cross_of(at.x, w), w);
      }
      return;
    }
    for (int j = 0; j < 3; ++j) {
      if (b.joint == Joint::free) S[j].set(at.c[j], V::zero());
      S[b.joint == Joint::free ? 3 + j : j].set(cross_of(at.x, at.c[j]), at.c[j]);
    }
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  Place* place_;
  V* point_;
};

JOUNCE_END
