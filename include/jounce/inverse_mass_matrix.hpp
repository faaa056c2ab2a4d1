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

#include <cmath>
#include <cstring>
#include <type_traits>

#include "jounce/armature.hpp"
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
        joint_(arena.template take<Joint6>(tree.size)),
        x_(arena.template take<double>(tree.nv * std::size_t(stride_))),
        P_(arena.template take<double>(6 * stride_)),
        A_(arena.template take<double>(std::size_t(tree.size) * 6 * stride_)),
        armature_(arena.template take<double>(tree.free_joint_count > 0 ? std::size_t(tree.nv) * tree.nv : 0)),
        descent_(tree, arena) {}

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
      Joint6& j = joint_[i];
      j.dof = freedom(b.joint);
      for (int c = 0; c < j.dof; ++c) {
        const auto& s = world_.screw(b.v + c);
        const double S[6] = {leading(s.v.x), leading(s.v.y), leading(s.v.z), leading(s.w.x), leading(s.w.y), leading(s.w.z)};
        std::memcpy(j.S[c], S, sizeof S);
      }
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

  struct Joint6 {
    alignas(64) double I[6][8];  // articulated inertia, rows padded
    double S[6][8], U[6][8];     // by columns
    double G[6][8];              // D^-1 U^T, by rows
    double inverse[6][6];        // D^-1
    int dof;

    template <class S>
    void rigid(const Moments<S>& m) {
      const double h[3] = {leading(m.first.x), leading(m.first.y), leading(m.first.z)}, M = m.mass;
      const double xx = leading(m.xx), yy = leading(m.yy), zz = leading(m.zz);
      const double xy = leading(m.xy), xz = leading(m.xz), yz = leading(m.yz);
      const double rows[6][6] = {{M, 0, 0, 0, h[2], -h[1]},           {0, M, 0, -h[2], 0, h[0]},
                                 {0, 0, M, h[1], -h[0], 0},           {0, -h[2], h[1], yy + zz, -xy, -xz},
                                 {h[2], 0, -h[0], -xy, xx + zz, -yz}, {-h[1], h[0], 0, -xz, -yz, xx + yy}};
      unroll<6>([&](auto r) JOUNCE_LAMBDA_INLINE {  // number by number: no wide load has to wait for these
        unroll<6>([&](auto c) JOUNCE_LAMBDA_INLINE { I[r][c] = rows[r][c]; });
        I[r][6] = I[r][7] = 0;
      });
    }

    // U = I S and D = S^T U
    void project(double (&D)[6][6]) {
      for (int c = 0; c < dof; ++c) {
        for (int l = 0; l < 8; l += W) {
          Pack<W> sum(0.0);
          for (int r = 0; r < 6; ++r) sum += Pack<W>(S[c][r]) * Pack<W>::load(&I[r][l]);
          sum.store(&U[c][l]);
        }
        for (int d = 0; d <= c; ++d) {
          double sum = 0;
          for (int r = 0; r < 6; ++r) sum += S[d][r] * U[c][r];
          D[c][d] = D[d][c] = sum;
        }
      }
    }

    // D^-1, by elimination, and G. False where D has no inverse.
    bool invert(double (&D)[6][6]) {
      for (int c = 0; c < dof; ++c) {
        double scale = 0;
        for (int r = 0; r < 6; ++r) scale += std::fabs(S[c][r] * U[c][r]);
        least_[c] = 1e-12 * scale;
      }
      if (dof == 1) {
        if (!(D[0][0] > least_[0])) return false;
        inverse[0][0] = 1 / D[0][0];
      } else {
        for (int r = 0; r < dof; ++r)
          for (int c = 0; c < dof; ++c) inverse[r][c] = r == c;
        for (int p = 0; p < dof; ++p) {
          if (!(D[p][p] > least_[p])) return false;
          const double pivot = 1 / D[p][p];
          for (int c = 0; c < dof; ++c) D[p][c] *= pivot, inverse[p][c] *= pivot;
          for (int r = 0; r < dof; ++r) {
            const double factor = D[r][p];
            if (r != p)
              for (int c = 0; c < dof; ++c) D[r][c] -= factor * D[p][c], inverse[r][c] -= factor * inverse[p][c];
          }
        }
      }
      for (int c = 0; c < dof; ++c)
        for (int l = 0; l < 8; l += W) {
          Pack<W> sum(0.0);
          for (int d = 0; d < dof; ++d) sum += Pack<W>(inverse[c][d]) * Pack<W>::load(&U[d][l]);
          sum.store(&G[c][l]);
        }
      return true;
    }

    // I += I_child - U D^-1 U^T
    void add_articulated(const Joint6& child) {
      for (int r = 0; r < 6; ++r)
        for (int l = 0; l < 8; l += W) {
          Pack<W> sum = Pack<W>::load(&I[r][l]) + Pack<W>::load(&child.I[r][l]);
          for (int c = 0; c < child.dof; ++c) sum -= Pack<W>(child.U[c][r]) * Pack<W>::load(&child.G[c][l]);
          sum.store(&I[r][l]);
        }
    }

   private:
    double least_[6];
  };

  template <class F>
  static JOUNCE_INLINE void with_freedom(int dof, const F& f) {
    if (dof == 1)
      f(std::integral_constant<int, 1>{});
    else if (dof == 3)
      f(std::integral_constant<int, 3>{});
    else
      f(std::integral_constant<int, 6>{});
  }

  void gather(int i, const Body& b, const Joint6& j) {
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
  JOUNCE_INLINE void gather_columns(int d, int begin, int end, const Body& b, const Joint6& j) {
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
  void spread(int i, const Body& b, const Joint6& j) {
    with_freedom(j.dof, [&](auto dof) JOUNCE_LAMBDA_INLINE {
      for (int d = b.v / native_width * native_width; d < tree_.nv; d += native_width) spread_columns<dof>(d, i, b, j);
    });
  }

  template <int dof>
  JOUNCE_INLINE void spread_columns(int d, int i, const Body& b, const Joint6& j) {
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
  Joint6* joint_;
  double *x_, *P_, *A_, *armature_;
  Descent descent_;
};

JOUNCE_END
