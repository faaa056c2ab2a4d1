// Kinetic and potential energy, with their time derivatives.
#pragma once

#include "jounce/motion/joint_forces.hpp"
#include "jounce/motion/world_frame.hpp"
#include "jounce/soft/shape_forces.hpp"

JOUNCE_BEGIN

// sum V . I V / 2 over the bodies, and the drives' armature v^2 / 2. Derivatives 0 .. rows - 1; after WorldFrame::set_inertias.
template <class Ring>
void kinetic_energy(const Tree& tree, const Motion<Ring>& motion, const WorldFrame<Ring>& world, int rows,
                    Screw<typename Ring::Acceleration>* twist, double* out) {
  using A = typename Ring::Acceleration;
  const A zero(0.0);
  A sum = zero;
  for (int i = 0; i < tree.size; ++i) {
    const Body& b = tree.bodies[i];
    twist[i] = world.joint_twist(i);
    if (b.parent >= 0) twist[i] += twist[b.parent];
    if (!b.massless) sum += pairing(truncate<Ring::order + 1>(world.moments(i)).momentum(twist[i]), twist[i]);
  }
  double c[padded_length<A>];
  sum.store(c);
  for (int k = 0; k < rows; ++k) {
    for (int j = 0; tree.joint_forces && j <= k; ++j)
      for (int i = 0; i < tree.columns; ++i)
        c[k] += tree.armature[i] * motion.rate[j * motion.stride + i] * motion.rate[(k - j) * motion.stride + i];
    out[k] = factorial.value[k] / 2 * c[k];
  }
}

// That of gravity, from the height of the centre of mass; of springs, stiffness / 2 times the square of the displacement each; and of
// shapes.
template <class Ring>
class PotentialEnergy {
 public:
  template <class Arena>
  PotentialEnergy(const Tree& tree, const Motion<Ring>& motion, int rows, Arena& arena)
      : tree_(tree), motion_(motion), shapes_(tree, rows, arena) {}

  // After WorldFrame::gather_inertias.
  void run(const WorldFrame<Ring>& world, int rows, double* out) const {
    using S = typename Ring::Velocity;
    const double* g = tree_.gravity;
    S sum(0.0);
    for (int i = 0; i < tree_.size; ++i) {
      if (tree_.bodies[i].parent >= 0) continue;
      const Moments<S>& m = world.moments(i);
      const auto& p = world.point(i);
      sum -= g[0] * m.first.x + g[1] * m.first.y + g[2] * m.first.z + S(m.mass * (g[0] * p.x + g[1] * p.y + g[2] * p.z));
    }
    double c[padded_length<S>];
    sum.store(c);
    if (tree_.joint_forces) add_springs(rows, c);
    if (tree_.soft) shapes_.add_energy(tree_, motion_.q, motion_.rate, motion_.stride, rows, c);
    for (int k = 0; k < rows; ++k) out[k] = factorial.value[k] * c[k];
  }

 private:
  void add_springs(int rows, double* energy) const {
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (b.joint == Joint::section) {
        continue;
      } else if (is_ball(b.joint)) {
        const int angular = motion_.angular(b);
        if (tree_.stiffness[angular] == 0 && tree_.stiffness[b.v] == 0) continue;
        for_each_ball_spring(b, motion_.q, motion_.rate, motion_.stride, rows, [&](int, const BallSpring& spring) {
          for (int axis = 0; axis < 3; ++axis) {
            add_square(tree_.stiffness[angular], spring.rotation_vector[axis], rows, energy);
            if (b.joint == Joint::free) add_square(tree_.stiffness[b.v], spring.displacement[axis], rows, energy);
          }
        });
      } else if (tree_.stiffness[b.v] != 0) {
        auto q = motion_.position_factor(b);
        q.c[0] -= tree_.rest[b.v];
        add_square(tree_.stiffness[b.v], q.c, rows, energy);
      }
    }
  }

  static void add_square(double stiffness, const double* x, int rows, double* energy) {
    for (int k = 0; k < rows; ++k)
      for (int j = 0; j <= k; ++j) energy[k] += stiffness / 2 * x[j] * x[k - j];
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  ShapeForces shapes_;
};

JOUNCE_END
