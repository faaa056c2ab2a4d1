// What the drives add to the matrices: A = diag(armature) in the joints' own coordinates. For a free joint whose velocity u is
// given in other axes, v = T(t) u, that becomes T^T A T in the mass matrix and T^T A T' in the Coriolis matrix.
#pragma once

#include "jounce/motion/world_frame.hpp"

JOUNCE_BEGIN

template <class Ring>
class Armature {
 public:
  using S = typename Ring::Velocity;

  Armature(const Tree& tree, const WorldFrame<Ring>& world, Axes axes) : tree_(tree), world_(world), axes_(axes) {}

  // Derivative k of T^T A T, or of T^T A T' if `rate`, added to a matrix (columns, columns).
  template <bool rate>
  void add(int k, double* matrix) const {
    const int nv = tree_.columns;
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const double* a = tree_.armature + b.v;
      if (b.joint == Joint::free && axes_ != Axes::body) {
        bool any = false;
        for (int c = 0; c < 6; ++c) any |= a[c] != 0;
        if (any) add_block<rate>(i, k, a, matrix + std::ptrdiff_t(b.v) * nv + b.v, nv);
      } else if (k == 0 && !rate) {
        for (int c = 0; c < freedom(b.joint); ++c) matrix[std::ptrdiff_t(b.v + c) * nv + b.v + c] += a[c];
      }
    }
  }

  // tau += T^T A (T a + T' v)
  void apply(const double* v, const double* a, double* tau) const {
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (b.joint == Joint::free && axes_ != Axes::body) {
        double mass[36] = {}, coriolis[36] = {};
        add_block<false>(i, 0, tree_.armature + b.v, mass, 6);
        add_block<true>(i, 0, tree_.armature + b.v, coriolis, 6);
        for (int c = 0; c < 6; ++c)
          for (int d = 0; d < 6; ++d) tau[b.v + c] += mass[6 * c + d] * a[b.v + d] + coriolis[6 * c + d] * v[b.v + d];
      } else {
        for (int c = b.v; c < b.v + freedom(b.joint); ++c) tau[c] += tree_.armature[c] * a[c];
      }
    }
  }

 private:
  template <bool rate>
  JOUNCE_NOINLINE void add_block(int i, int k, const double* a, double* block, std::ptrdiff_t step) const {
    double T[6][6][Ring::padded];  // component, column
    const Pose<S>& pose = world_.pose(i);
    for (int c = 0; c < 6; ++c) {
      const Screw<S>& u = world_.screw(tree_.bodies[i].v + c);
      const Vec3<S> v = turn_back(pose.R, u.v - cross(pose.x, u.w)), w = turn_back(pose.R, u.w);
      const S* parts[6] = {&v.x, &v.y, &v.z, &w.x, &w.y, &w.z};
      for (int r = 0; r < 6; ++r) parts[r]->store(T[r][c]);
    }
    for (int c = 0; c < 6; ++c)
      for (int d = 0; d < 6; ++d) {
        double sum = 0;
        for (int r = 0; r < 6; ++r)
          for (int j = 0; j <= k; ++j)
            if constexpr (rate)
              sum += a[r] * T[r][c][j] * (k - j + 1) * T[r][d][k - j + 1];
            else
              sum += a[r] * T[r][c][j] * T[r][d][k - j];
        block[c * step + d] += factorial.value[k] * sum;
      }
  }

  const Tree& tree_;
  const WorldFrame<Ring>& world_;
  Axes axes_;
};

JOUNCE_END
