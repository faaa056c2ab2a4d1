// The mass matrix and its time derivatives (composite rigid bodies, CRBA; paper A, (5); paper C, (43)).
//
//   M_cd = J_c . I_d J_d    for a column c at or above column d,
//
// with J the screws of the coordinates and I_d the inertia of the body that d moves together with all that it carries, in
// world axes. Over Taylor series the product is a convolution. Motors add their armature to the diagonal.
#pragma once

#include "jounce/armature.hpp"
#include "jounce/columns.hpp"

JOUNCE_BEGIN

template <class Ring>
class MassMatrix {
 public:
  template <class Arena>
  MassMatrix(const Tree& tree, const WorldFrame<Ring>& world, int rows, Arena& arena)
      : tree_(tree),
        world_(world),
        rows_(rows),
        screws_(tree.nv, rows, arena),
        momenta_(tree.nv, rows, arena),
        descent_(tree, arena),
        row_(arena.template take<double>(screws_.stride())) {}

  // Derivatives 0 .. rows - 1 into out (rows, nv, nv); after WorldFrame::weigh_subtrees.
  void run(Axes axes, double* out) {
    screws_.clear();
    momenta_.clear();
    for (int i = 0; i < tree_.size; ++i)
      for (int c = tree_.bodies[i].v, end = c + freedom(tree_.bodies[i].joint); c < end; ++c) {
        screws_.set(c, world_.screw(c));
        momenta_.set(c, world_.moments(i).momentum(world_.screw(c)));
      }
    const int nv = tree_.nv;
    std::memset(out, 0, sizeof(double) * rows_ * nv * nv);
    for (int k = 0; k < rows_; ++k, out += std::ptrdiff_t(nv) * nv) {
      for (int i = 0; i < tree_.size; ++i) {
        const Body& b = tree_.bodies[i];
        for (int c = b.v, end = c + freedom(b.joint); c < end; ++c) {
          pairings<6>(screws_, momenta_, k, c, c, b.end, row_);
          descent_.for_each(i, [&](int begin, int end) {
            for (int d = begin < c ? c : begin; d < end; ++d) out[c * nv + d] = out[d * nv + c] = factorial.value[k] * row_[d];
          });
        }
      }
      if (tree_.passive) Armature<Ring>(tree_, world_, axes).template add<false>(k, out);
    }
  }

 private:
  const Tree& tree_;
  const WorldFrame<Ring>& world_;
  int rows_;
  Columns<6> screws_, momenta_;
  Descent descent_;
  double* row_;
};

JOUNCE_END
