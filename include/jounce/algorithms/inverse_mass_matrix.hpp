// The inverse of the mass matrix, without the mass matrix (Carpentier 2018; paper B, IMMA), in world axes.
//
// Unit forces on all coordinates at once go through the sweeps of articulated_bodies.hpp. For the columns d of the result, with x_d the
// rows of a cluster and P_d, A_d the wrench and acceleration of a body,
//
//   towards the root   x_d = -sum of S^T P_d    of what lies below the cluster;  then x_d = D^-1 x_d,  P_d += U x_d,
//                      and x = D^-1, P = U D^-1 for its own columns,
//   and back           x_d -= D^-1 U^T A_p,d,   A_d = A_p,d + S x_d.
//
// The rest follows from symmetry. x, P and A have their columns side by side, processed one register at a time.
#pragma once

#include "jounce/algorithms/articulated_bodies.hpp"
#include "jounce/motion/columns.hpp"

JOUNCE_BEGIN

class InverseMassMatrix {
 public:
  template <class Arena>
  InverseMassMatrix(const Tree& tree, const ArticulatedBodies<double>& factors, Arena& arena)
      : tree_(tree),
        factors_(factors),
        stride_(round_up(tree.nv, native_width)),
        x_(arena.template take<double>(tree.nv * std::size_t(stride_))),
        P_(arena.template take<double>(6 * stride_)),
        A_(arena.template take<double>(std::size_t(tree.size) * 6 * stride_)),
        y_(arena.template take<double>(tree.widest)) {}

  // Into out (nv, nv); after ArticulatedBodies::factor.
  void run(double* out) {
    const int nv = tree_.nv;
    std::memset(x_, 0, sizeof(double) * nv * stride_);
    std::memset(P_, 0, sizeof(double) * 6 * stride_);
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      const Cluster& cluster = tree_.clusters[b.cluster];
      if (cluster.count == 0) continue;
      if (is_joint(b, cluster)) {
        gather(b, cluster);
      } else {
        gather_one(b, cluster);
        if (cluster.body == i) close(cluster);
      }
    }
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const Cluster& cluster = tree_.clusters[b.cluster];
      if (is_joint(b, cluster)) {
        spread(i, b);
      } else {
        if (cluster.body == i) open(cluster);
        if (!b.leaf) spread_one(i, b, cluster);
      }
    }
    for (int c = 0; c < nv; ++c)
      for (int d = c; d < nv; ++d) out[c * nv + d] = out[d * nv + c] = x_[c * stride_ + d];
  }

 private:
  using P = Pack<native_width>;

  // Whether it is a single joint, which has 1, 3 or 6 coordinates.
  static bool is_joint(const Body& b, const Cluster& cluster) { return cluster.alone && cluster.count > 0 && b.joint != Joint::section; }

  template <class F>
  static JOUNCE_INLINE void with_freedom(int dof, const F& f) {
    if (dof == 1)
      f(std::integral_constant<int, 1>{});
    else if (dof == 3)
      f(std::integral_constant<int, 3>{});
    else
      f(std::integral_constant<int, 6>{});
  }

  // Calls with(d, begin, end) for the registers of own columns that a body carries.
  template <class With>
  JOUNCE_INLINE void for_each_register(const Body& b, int skip, const With& with) const {
    for_each_range(tree_, b, [&](int begin, int end) JOUNCE_LAMBDA_INLINE {
      if (begin == b.column) begin += skip;
      if (end > tree_.nv) end = tree_.nv;
      for (int d = begin / native_width * native_width; d < end; d += native_width) with(d, begin, end);
    });
  }

  // The block D^-1 and P = U D^-1 of a cluster's own columns.
  void set_own(const Cluster& cluster) {
    const int n = cluster.count;
    for (int c = 0; c < n; ++c) {
      for (int d = 0; d < n; ++d) y_[d] = c == d;
      factors_.solve_block(cluster, y_);
      const int at = factors_.own(cluster, c);
      for (int d = 0; d < n; ++d) x_[factors_.own(cluster, d) * stride_ + at] = y_[d];
      for (int r = 0; r < 6; ++r) P_[r * stride_ + at] = factors_.G(at)[r];
    }
  }

  void gather(const Body& b, const Cluster& cluster) {
    set_own(cluster);
    with_freedom(b.count, [&](auto freedom) JOUNCE_LAMBDA_INLINE {
      constexpr int dof = freedom;
      for_each_register(b, dof, [&](int d, int begin, int end) JOUNCE_LAMBDA_INLINE { gather_columns<dof>(d, begin, end, b); });
    });
  }

  // For the columns from begin to end of one register.
  template <int dof>
  JOUNCE_INLINE void gather_columns(int d, int begin, int end, const Body& b) {
    P p[6], t[dof];
    for (int r = 0; r < 6; ++r) p[r] = P::load(P_ + r * stride_ + d);
    for (int c = 0; c < dof; ++c) {
      t[c] = P(0.0);
      const Six<double>& S = factors_.screw(b.screw + c);
      for (int r = 0; r < 6; ++r) t[c] -= P(S[r]) * p[r];
      if (d < begin || d + native_width > end) t[c] = only(t[c], begin - d, end - d);
    }
    for (int c = 0; c < dof; ++c) {
      double* row = x_ + (b.column + c) * stride_ + d;
      P sum = P::load(row);
      for (int e = 0; e < dof; ++e) sum += P(x_[(b.column + c) * stride_ + b.column + e]) * t[e];  // D^-1 is stored there
      sum.store(row);
    }
    for (int c = 0; c < dof; ++c) {  // U D^-1 = G^T
      const Six<double>& G = factors_.G(b.column + c);
      for (int r = 0; r < 6; ++r) p[r] += P(G[r]) * t[c];
    }
    for (int r = 0; r < 6; ++r) p[r].store(P_ + r * stride_ + d);
  }

  // From its own columns on, since earlier ones follow from symmetry; with joints that follow others, the order says nothing.
  void spread(int i, const Body& b) {
    const int from = tree_.follower_count > 0 ? 0 : b.column / native_width * native_width;
    with_freedom(b.count, [&](auto dof) JOUNCE_LAMBDA_INLINE {
      for (int d = from; d < tree_.nv; d += native_width) spread_columns<dof>(d, i, b);
    });
  }

  template <int dof>
  JOUNCE_INLINE void spread_columns(int d, int i, const Body& b) {
    P a[6], x[dof];
    for (int r = 0; r < 6; ++r) a[r] = acceleration(b.parent, r, d);
    for (int c = 0; c < dof; ++c) {
      double* row = x_ + (b.column + c) * stride_ + d;
      const Six<double>& G = factors_.G(b.column + c);
      x[c] = P::load(row);
      for (int r = 0; r < 6; ++r) x[c] -= P(G[r]) * a[r];
      x[c].store(row);
    }
    if (b.leaf) return;
    for (int c = 0; c < dof; ++c) {
      const Six<double>& S = factors_.screw(b.screw + c);
      for (int r = 0; r < 6; ++r) a[r] += P(S[r]) * x[c];
    }
    for (int r = 0; r < 6; ++r) a[r].store(A_ + (std::ptrdiff_t(i) * 6 + r) * stride_ + d);
  }
  JOUNCE_INLINE P acceleration(int body, int r, int d) const {
    return body < 0 ? P(0.0) : P::load(A_ + (std::ptrdiff_t(body) * 6 + r) * stride_ + d);
  }

  // One body of a cluster of several.
  void gather_one(const Body& b, const Cluster& cluster) {
    for_each_register(b, b.joint == Joint::section ? 0 : b.count, [&](int d, int begin, int end) {
      for (int c = 0; c < b.count; ++c) {
        const Six<double>& S = factors_.screw(b.screw + c);
        P t(0.0);
        for (int r = 0; r < 6; ++r) t -= P(b.ratio * S[r]) * P::load(P_ + r * stride_ + d);
        if (d < begin || d + native_width > end) t = only(t, begin - d, end - d);
        double* row = x_ + factors_.own(cluster, b.local + c) * stride_ + d;
        (P::load(row) + t).store(row);
      }
    });
  }

  void close(const Cluster& cluster) {
    const int n = cluster.count;
    for (int d = 0; d < tree_.nv; ++d) {
      for (int c = 0; c < n; ++c) y_[c] = x_[factors_.own(cluster, c) * stride_ + d];
      for (int c = 0; c < n; ++c)
        for (int r = 0; r < 6; ++r) P_[r * stride_ + d] += y_[c] * factors_.G(factors_.own(cluster, c))[r];
      factors_.solve_block(cluster, y_);
      for (int c = 0; c < n; ++c) x_[factors_.own(cluster, c) * stride_ + d] = y_[c];
    }
    set_own(cluster);
  }

  void open(const Cluster& cluster) {
    for (int c = 0; c < cluster.count; ++c) {
      const int at = factors_.own(cluster, c);
      for (int d = 0; d < tree_.nv; d += native_width) {
        P x = P::load(x_ + at * stride_ + d);
        for (int r = 0; r < 6; ++r) x -= P(factors_.G(at)[r]) * acceleration(cluster.up, r, d);
        x.store(x_ + at * stride_ + d);
      }
    }
  }

  void spread_one(int i, const Body& b, const Cluster& cluster) {
    for (int d = 0; d < tree_.nv; d += native_width)
      for (int r = 0; r < 6; ++r) {
        P a = acceleration(b.parent, r, d);
        for (int c = 0; cluster.count > 0 && c < b.count; ++c)
          a += P(b.ratio * factors_.screw(b.screw + c)[r]) * P::load(x_ + factors_.own(cluster, b.local + c) * stride_ + d);
        a.store(A_ + (std::ptrdiff_t(i) * 6 + r) * stride_ + d);
      }
  }

  const Tree& tree_;
  const ArticulatedBodies<double>& factors_;
  int stride_;
  double *x_, *P_, *A_, *y_;
};

JOUNCE_END
