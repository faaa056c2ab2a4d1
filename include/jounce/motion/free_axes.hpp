// The twist of a free joint, and the wrench dual to it, in body, world and mixed axes, coefficient by coefficient.
//
// With H = (R, x) the pose of the body in its parent, the twist is
//   body   H^-1 H' = (v, w),     mixed   (x', R w) = (R v, R w),     world   H' H^-1 = (x' + x x R w, R w),
// and the wrench (f, n) in body axes is (R f, R n) in mixed and (R f, R n + x x R f) in world axes: in both, one part is turned, the
// other turned and moved. Once coefficient k of the twist is known, so is coefficient k + 1 of the pose.
//
// T is double, DoubleDouble, or a Pack with one state per lane.
#pragma once

#include "jounce/ring/ring.hpp"
#include "jounce/spatial/lie.hpp"
#include "jounce/spatial/rotation_series.hpp"
#include "jounce/tree/tree.hpp"

JOUNCE_BEGIN

template <class T>
class FreeAxes {
 public:
  FreeAxes() = default;
  template <class Arena>
  FreeAxes(const Tree& tree, int coefficients, Arena& arena)
      : joints_(tree.free_joints),
        size_(tree.free_joint_count),
        count_(coefficients),
        level_(arena.template take<Level>(std::size_t(size_) * coefficients)) {}

  // The poses, from positions and unit quaternions.
  void start(const T* q) {
    for (int i = 0; i < size_; ++i) {
      const FreeJoint& joint = joints_[i];
      Level& now = level(i, 0);
      T R[9];
      rotation_of(q + joint.q + 3, R);
      for (int c = 0; c < 3; ++c) {
        const Vec3<T> column = apply(joint.R, Vec3<T>{R[c], R[3 + c], R[6 + c]});
        now.R[c] = column.x, now.R[3 + c] = column.y, now.R[6 + c] = column.z;
      }
      now.x = Vec3<T>{T(joint.p[0]), T(joint.p[1]), T(joint.p[2])} + apply(joint.R, vector(q + joint.q));
    }
  }

  // Coefficient k of free joint i's twist [linear; angular]; to be set after lower ones. `row`: one row over columns.
  void set_twist(int i, int k, Axes axes, const T* row) {
    const T* u = row + joints_[i].v;
    set(&Level::twist, i, k, axes, {vector(u), vector(u + 3)});
    if (k + 1 == count_) return;
    Level *own = &level(i, 0), &next = own[k + 1];
    next.x = reciprocal<T>(k + 1) * own[k].twist.mixed.moved;
    next_rotation(k, [&](int j) { return own[j].R; }, [&](int j) { return own[j].twist.body.turned; }, next.R);
  }
  void twist(int i, int k, Axes axes, T* row) const {
    const Pair u = get(&Level::twist, i, k, axes);
    put(u.moved, row + joints_[i].v), put(u.turned, row + joints_[i].v + 3);
  }

  // Coefficient k of its wrench [force; moment]; to be set after lower ones and those of the twist below k.
  void set_wrench(int i, int k, Axes axes, const T* row) {
    const T* u = row + joints_[i].v;
    set(&Level::wrench, i, k, axes, {vector(u + 3), vector(u)});
  }
  void wrench(int i, int k, Axes axes, T* row) const {
    const Pair u = get(&Level::wrench, i, k, axes);
    put(u.turned, row + joints_[i].v), put(u.moved, row + joints_[i].v + 3);
  }

  // Both for all free joints, in place.
  void change_twists(int k, Axes from, Axes to, T* row) {
    for (int i = 0; i < size_; ++i) set_twist(i, k, from, row), twist(i, k, to, row);
  }
  void change_wrenches(int k, Axes from, Axes to, T* row) {
    for (int i = 0; i < size_; ++i) set_wrench(i, k, from, row), wrench(i, k, to, row);
  }

 private:
  struct Pair {
    Vec3<T> moved, turned;  // velocity and angular velocity, or moment and force
  };
  struct Quantity {
    Pair body, mixed;
  };
  struct Level {
    T R[9];
    Vec3<T> x;
    Quantity twist, wrench;
  };

  static Vec3<T> vector(const T* u) { return {u[0], u[1], u[2]}; }
  static void put(const Vec3<T>& u, T* to) { to[0] = u.x, to[1] = u.y, to[2] = u.z; }

  Level& level(int joint, int k) const { return level_[joint * count_ + k]; }

  void set(Quantity Level::* kind, int joint, int k, Axes axes, const Pair& given) {
    const Level* at = &level(joint, 0);
    Quantity& to = level(joint, k).*kind;
    const Vec3<T> none{T(0.0), T(0.0), T(0.0)};
    if (axes == Axes::body) {
      to = {given, {none, none}};
      for (int j = 0; j <= k; ++j) {
        const Pair& u = (at[k - j].*kind).body;
        to.mixed.moved += apply(at[j].R, u.moved), to.mixed.turned += apply(at[j].R, u.turned);
      }
    } else {
      to = {{none, none}, given};
      if (axes == Axes::world) to.mixed.moved -= lever(kind, joint, k);
      for (int j = 0; j <= k; ++j) {
        const Pair& u = (at[k - j].*kind).mixed;
        to.body.moved += apply_transpose(at[j].R, u.moved), to.body.turned += apply_transpose(at[j].R, u.turned);
      }
    }
  }

  Pair get(Quantity Level::* kind, int joint, int k, Axes axes) const {
    const Quantity& u = level(joint, k).*kind;
    if (axes != Axes::world) return axes == Axes::body ? u.body : u.mixed;
    return {u.mixed.moved + lever(kind, joint, k), u.mixed.turned};
  }

  // x x R u
  Vec3<T> lever(Quantity Level::* kind, int joint, int k) const {
    const Level* at = &level(joint, 0);
    Vec3<T> sum = cross_of(at[0].x, (at[k].*kind).mixed.turned);
    for (int j = 1; j <= k; ++j) sum += cross_of(at[j].x, (at[k - j].*kind).mixed.turned);
    return sum;
  }

  const FreeJoint* joints_ = nullptr;
  int size_ = 0, count_ = 0;
  Level* level_ = nullptr;
};

JOUNCE_END
