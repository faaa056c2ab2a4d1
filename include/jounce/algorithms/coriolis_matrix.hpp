// The Coriolis matrix of paper A's Lemma 1 and its time derivatives.
//
// With J_i the Jacobian of body i, V_i its twist and I_i its inertia, all in world axes,
//
//   C = sum_i J_i^T (I_i J_i' + B_i J_i),     B_i = -ad_{V_i}^T I_i,     B_i (v, w) = (w_i x f, v_i x f + w_i x n),
//
// (f, n) the momentum I_i (v, w). Since I_i' = B_i + B_i^T, M' - 2C is skew, in whatever coordinates the columns of J are. Along
// the tree, for a column c at or above column d, with sums I, B over all that d carries,
//
//   C_cd = J_c . (I J_d' + B J_d),     C_dc = J_c' . I J_d + J_c . B^T J_d.
#pragma once

#include "jounce/motion/armature.hpp"
#include "jounce/motion/columns.hpp"

JOUNCE_BEGIN

template <class Ring>
class CoriolisMatrix {
 public:
  using S = typename Ring::Velocity;
  using A = typename Ring::Acceleration;
  static constexpr int n = Ring::order + 1;

  template <class Arena>
  CoriolisMatrix(const Tree& tree, const WorldFrame<Ring>& world, int rows, Arena& arena)
      : tree_(tree),
        world_(world),
        rows_(rows),
        above_(tree.screws, rows, arena),
        below_(tree.screws, rows, arena),
        right_(tree.screws, rows, arena),
        upper_(arena.template take<double>(above_.stride())),
        lower_(arena.template take<double>(above_.stride())),
        twist_(arena.template take<Screw<A>>(tree.size + 1) + 1),
        moments_(arena.template take<Moments<A>>(tree.size)),
        rate_(arena.template take<MomentumRate<A>>(tree.size)) {}

  // Derivatives 0 .. rows - 1 into out (rows, columns, columns); after WorldFrame::set_inertias.
  void run(Axes axes, double* out) {
    carry();
    above_.clear();
    right_.clear();
    below_.clear();
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      for (int c = 0; c < b.count; ++c) {
        fill(i, b.screw + c);
        if (b.joint == Joint::section) add(i, b.screw + c, b.column + c);
      }
    }
    const std::ptrdiff_t n = tree_.columns;
    std::memset(out, 0, sizeof(double) * rows_ * n * n);
    for (int k = 0; k < rows_; ++k, out += n * n) {
      const double scale = factorial.value[k];
      for (int i = 0; i < tree_.size; ++i) {
        const Body& b = tree_.bodies[i];
        for (int s = b.screw; s < b.screw + b.count; ++s) {
          const int c = b.column + s - b.screw;
          if (b.joint == Joint::section) {
            pairings<6>(above_, right_, k, s, b.screw, b.screw + b.count, upper_);
            for (int d = 0; d < b.count; ++d) out[c * n + b.column + d] += scale * upper_[b.screw + d];
          }
          for_each_range(tree_, b, [&](int begin, int end) JOUNCE_LAMBDA_INLINE {
            const int from = begin < c && c < end ? c : begin;  // of its own columns, each pair once
            pairings<6>(above_, right_, k, s, from, end, upper_);
            pairings<12>(above_, below_, k, s, from, end, lower_);
            for (int d = from; d < end; ++d) {
              out[d * n + c] = scale * lower_[d];
              out[c * n + d] = scale * upper_[d];
            }
          });
        }
      }
      if (tree_.joint_forces) Armature<Ring>(tree_, world_, axes).template add<true>(k, out);
    }
  }

 private:
  // Twists, then the moments of mass and their rates summed towards the root.
  void carry() {
    const A zero(0.0);
    const Vec3<A> none{zero, zero, zero};
    twist_[-1] = {none, none};
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      twist_[i] = twist_[b.parent] + world_.joint_twist(i);
      moments_[i] = truncate<n>(world_.moments(i));
      rate_[i] = b.massless ? MomentumRate<A>::none() : MomentumRate<A>::of(moments_[i], twist_[i]);
    }
    for (int i = tree_.size - 1; i >= 0; --i)
      if (const int parent = tree_.bodies[i].parent; parent >= 0) {
        moments_[parent] += moments_[i];
        rate_[parent] += rate_[i];
      }
  }

  Screw<A> right(int i, const Screw<A>& J, const Screw<A>& dJ) const { return moments_[i].momentum(dJ) + rate_[i].apply(J); }

  JOUNCE_NOINLINE void fill(int i, int s) {
    const Screw<A> J = truncate<n>(world_.screw(s)), dJ = derivative(world_.screw(s));
    above_.set(s, J);
    above_.set(s, dJ, 6);
    right_.set(s, right(i, J, dJ));
    below_.set(s, rate_[i].apply_transpose(J));
    below_.set(s, moments_[i].momentum(J), 6);
  }

  // Columns above a section's body see the sum over its sections.
  JOUNCE_NOINLINE void add(int i, int s, int column) {
    const Screw<A> J = truncate<n>(world_.screw(s));
    right_.add(column, right(i, J, derivative(world_.screw(s))));
    below_.add(column, rate_[i].apply_transpose(J));
    below_.add(column, moments_[i].momentum(J), 6);
  }

  const Tree& tree_;
  const WorldFrame<Ring>& world_;
  int rows_;
  Columns<12> above_, below_;  // (J, J') and (B^T J, I J)
  Columns<6> right_;           // I J' + B J
  double *upper_, *lower_;
  Screw<A>* twist_;
  Moments<A>* moments_;
  MomentumRate<A>* rate_;
};

JOUNCE_END
