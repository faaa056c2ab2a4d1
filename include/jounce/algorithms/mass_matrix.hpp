// The mass matrix and its time derivatives (composite rigid bodies, CRBA; paper A, (11); paper C, (43)).
//
//   M_cd = J_c . I_d J_d    for a column c at or above column d,
//
// with J the screws of the coordinates and I_d the inertia of the body that d moves together with all that it carries, in
// world axes. Over Taylor series the product is a convolution. Motors add their armature to the diagonal.
#pragma once

#include "jounce/motion/armature.hpp"
#include "jounce/motion/columns.hpp"

JOUNCE_BEGIN

template <class Ring>
class MassMatrix {
 public:
  template <class Arena>
  MassMatrix(const Tree& tree, const WorldFrame<Ring>& world, int rows, Arena& arena)
      : tree_(tree),
        world_(world),
        rows_(rows),
        screws_(tree.screws, rows, arena),
        momenta_(tree.screws, rows, arena),
        row_(arena.template take<double>(screws_.stride())) {}

  // Derivatives 0 .. rows - 1 into out (rows, columns, columns); after WorldFrame::gather_inertias.
  void run(Axes axes, double* out) {
    screws_.clear();
    momenta_.clear();
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      for (int c = 0; c < b.count; ++c) {
        const auto& J = world_.screw(b.screw + c);
        screws_.set(b.screw + c, J);
        momenta_.set(b.screw + c, world_.moments(i).momentum(J));
        if (b.joint == Joint::section) momenta_.add(b.column + c, world_.moments(i).momentum(J));
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
            pairings<6>(screws_, momenta_, k, s, b.screw, b.screw + b.count, row_);
            for (int d = 0; d < b.count; ++d) out[c * n + b.column + d] += scale * row_[b.screw + d];
          }
          for_each_range(tree_, b, [&](int begin, int end) {
            pairings<6>(screws_, momenta_, k, s, begin, end, row_);
            for (int d = begin; d < end; ++d) out[c * n + d] = out[d * n + c] = scale * row_[d];
          });
        }
      }
      if (tree_.joint_forces) Armature<Ring>(tree_, world_, axes).template add<false>(k, out);
    }
  }

 private:
  const Tree& tree_;
  const WorldFrame<Ring>& world_;
  int rows_;
  Columns<6> screws_, momenta_;
  double* row_;
};

JOUNCE_END
