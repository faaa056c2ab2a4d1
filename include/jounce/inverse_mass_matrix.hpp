// The inverse of the mass matrix, without the mass matrix (Carpentier 2018; paper B, IMMA), in world axes.
//
// Unit forces on all coordinates at once go through the articulated-body algorithm without motion or gravity. With S the screws
// of a joint, I the articulated inertia, U = I S and D = S^T U + armature,
//
//   towards the root   x_d = -D^-1 S^T P_d,   P_d += U x_d      for the columns d below the joint, and x = D^-1, P = U D^-1 for its own,
//                      I_parent += I - U D^-1 U^T,
//   and back           x_d -= D^-1 U^T A_parent,d,   A_d = A_parent,d + S x_d     for the columns from its own on,
//
// where x_d is the joint's rows of M^-1; the rest follows from symmetry. x, P and A have their columns side by side, a register
// of them at a time.
#pragma once

#include <cstring>
#include <type_traits>

#include "jounce/armature.hpp"
#include "jounce/articulated_joint.hpp"
#include "jounce/columns.hpp"

JOUNCE_BEGIN

class InverseMassMatrix {
 public:
  using Ring = ArrayRing<double, -1>;  // positions only

  template <class Arena>
  InverseMassMatrix(const Tree& tree, const WorldFrame<Ring>& world, Arena& arena)
      : tree_(tree),
        world_(world),
        stride_(round_up(tree.nv, native_width)),
        joint_(arena.template take<ArticulatedJoint>(tree.size)),
        x_(arena.template take<double>(tree.nv * std::size_t(stride_))),
        P_(arena.template take<double>(6 * stride_)),
        A_(arena.template take<double>(std::size_t(tree.size) * 6 * stride_)),
        armature_(arena.template take<double>(tree.free_joint_count > 0 ? std::size_t(tree.nv) * tree.nv : 0)),
        descent_(tree, arena) {}

  ArticulatedJoint* factors() { return joint_; }

  // Into out (nv, nv); after WorldFrame::weigh. Returns the body whose inertia has no inverse, or -1.
  int run(Axes axes, double* out) {
    const int nv = tree_.nv;
    std::memset(x_, 0, sizeof(double) * nv * stride_);
    std::memset(P_, 0, sizeof(double) * 6 * stride_);
    const bool turned = tree_.passive && axes != Axes::body && tree_.free_joint_count > 0;
    if (turned) {
      std::memset(armature_, 0, sizeof(double) * nv * nv);
      Armature<Ring>(tree_, world_, axes).add<false>(0, armature_);
    }
    for (int i = 0; i < tree_.size; ++i) joint_[i].rigid(world_.moments(i));
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      ArticulatedJoint& j = joint_[i];
      j.move(world_, b);
      double D[6][6];
      j.project(D);
      for (int c = 0; c < j.dof; ++c)
        if (turned)
          for (int d = 0; d < j.dof; ++d) D[c][d] += armature_[(b.v + c) * nv + b.v + d];
        else
          D[c][c] += tree_.armature[b.v + c];
      if (!j.invert(D)) return i;
      gather(i, b, j);
      if (b.parent >= 0) joint_[b.parent].add_articulated(j);
    }
    for (int i = 0; i < tree_.size; ++i) spread(i, tree_.bodies[i], joint_[i]);
    for (int c = 0; c < nv; ++c)
      for (int d = c; d < nv; ++d) out[c * nv + d] = out[d * nv + c] = x_[c * stride_ + d];
    return -1;
  }

 private:
  static constexpr int W = native_width;
  using P = Pack<W>;

  template <class F>
  static JOUNCE_INLINE void with_freedom(int dof, const F& f) {
    if (dof == 1)
      f(std::integral_constant<int, 1>{});
    else if (dof == 3)
      f(std::integral_constant<int, 3>{});
    else
      f(std::integral_constant<int, 6>{});
  }

  void gather(int i, const Body& b, const ArticulatedJoint& j) {
    for (int c = 0; c < j.dof; ++c)
      for (int d = 0; d < j.dof; ++d) x_[(b.v + c) * stride_ + b.v + d] = j.inverse[c][d];
    for (int d = 0; d < j.dof; ++d)
      for (int r = 0; r < 6; ++r) P_[r * stride_ + b.v + d] = j.G[d][r];
    descent_.for_each(i, [&](int begin, int end) {
      if (begin == b.v) begin += j.dof;
      with_freedom(j.dof, [&](auto dof) JOUNCE_LAMBDA_INLINE {
        for (int d = begin / native_width * native_width; d < end; d += native_width) gather_columns<dof>(d, begin, end, b, j);
      });
    });
  }

  // Of a register of columns, those from begin to end.
  template <int dof>
  JOUNCE_INLINE void gather_columns(int d, int begin, int end, const Body& b, const ArticulatedJoint& j) {
    P p[6], t[dof];
    for (int r = 0; r < 6; ++r) p[r] = P::load(P_ + r * stride_ + d);
    for (int c = 0; c < dof; ++c) {
      t[c] = P(0.0);
      for (int r = 0; r < 6; ++r) t[c] -= P(j.S[c][r]) * p[r];
      if (d < begin || d + native_width > end) t[c] = only(t[c], begin - d, end - d);
    }
    for (int c = 0; c < dof; ++c) {
      double* row = x_ + (b.v + c) * stride_ + d;
      P sum = P::load(row);
      for (int e = 0; e < dof; ++e) sum += P(j.inverse[c][e]) * t[e];
      sum.store(row);
    }
    for (int c = 0; c < dof; ++c)  // U D^-1 = G^T
      for (int r = 0; r < 6; ++r) p[r] += P(j.G[c][r]) * t[c];
    for (int r = 0; r < 6; ++r) p[r].store(P_ + r * stride_ + d);
  }

  // From its own columns on; what is left of them in the same register is never read.
  void spread(int i, const Body& b, const ArticulatedJoint& j) {
    with_freedom(j.dof, [&](auto dof) JOUNCE_LAMBDA_INLINE {
      for (int d = b.v / native_width * native_width; d < tree_.nv; d += native_width) spread_columns<dof>(d, i, b, j);
    });
  }

  template <int dof>
  JOUNCE_INLINE void spread_columns(int d, int i, const Body& b, const ArticulatedJoint& j) {
    const std::ptrdiff_t step = 6 * stride_;
    P a[6], x[dof];
    const double* parent = A_ + b.parent * step + d;
    for (int r = 0; r < 6; ++r) a[r] = b.parent < 0 ? P(0.0) : P::load(parent + r * stride_);
    for (int c = 0; c < dof; ++c) {
      double* row = x_ + (b.v + c) * stride_ + d;
      x[c] = P::load(row);
      for (int r = 0; r < 6; ++r) x[c] -= P(j.G[c][r]) * a[r];
      x[c].store(row);
    }
    if (b.end == b.v + dof) return;  // it carries nothing
    for (int c = 0; c < dof; ++c)
      for (int r = 0; r < 6; ++r) a[r] += P(j.S[c][r]) * x[c];
    double* own = A_ + i * step + d;
    for (int r = 0; r < 6; ++r) a[r].store(own + r * stride_);
  }

  const Tree& tree_;
  const WorldFrame<Ring>& world_;
  int stride_;
  ArticulatedJoint* joint_;
  double *x_, *P_, *A_, *armature_;
  Descent descent_;
};

JOUNCE_END
