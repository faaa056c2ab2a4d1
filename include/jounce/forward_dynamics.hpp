// Forward dynamics of one state at order zero: the articulated-body algorithm in world axes (Featherstone; paper A, Algorithm 3).
//
// With J the screws, V the twists and h = I V the momenta, in common axes,
//
//   outwards   V_i = V_p + J v,   c_i = J' v,   p_i = V x* h - wrenches from outside,
//   inwards    u = tau - J . p,   p_parent += p + I c + U D^-1 (u - U . c),   articulated inertias as in articulated_joint.hpp,
//   outwards   a_p + c =: a,   v' = D^-1 (u - U . a),   a_i = a + J v',   from minus gravity at the root.
//
// Higher orders, prescribed joints and batches have hybrid_dynamics.hpp, in body axes. Here a body costs some ten
// instructions on whole six-vectors and no rotation of inertias.
#pragma once

#include "jounce/articulated_joint.hpp"
#include "jounce/inverse_dynamics_derivatives.hpp"
#include "jounce/passive_forces.hpp"

JOUNCE_BEGIN

class ForwardDynamics {
 public:
  using Ring = ArrayRing<double, -1>;  // positions; velocities are plain numbers
  using S = Series<double, 1>;

  // `factors`: of joints that somebody else has factored by the time of run().
  template <class Arena>
  ForwardDynamics(const Tree& tree, const Motion<Ring>& motion, const WorldFrame<Ring>& world, Arena& arena,
                  ArticulatedJoint* factors = nullptr)
      : tree_(tree),
        motion_(motion),
        world_(world),
        own_(arena.template take<ArticulatedJoint>(factors ? 0 : tree.size)),
        joint_(factors ? factors : own_),
        body_(arena.template take<State>(tree.size + 1) + 1),
        force_(arena.template take<double>(tree.nv)) {}

  // Twists and what the motion takes; after WorldFrame::weigh.
  void start() {
    const S zero(0.0);
    const Vec3<S> none{zero, zero, zero};
    Screw<S> ground{none, none};
    body_[-1].V = ground;
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      State& own = body_[i];
      const Screw<S>& parent = body_[b.parent].V;
      if (b.joint == Joint::free || b.joint == Joint::spherical) {
        Screw<S> joint{none, none};
        for (int c = b.v; c < b.v + freedom(b.joint); ++c) joint += scaled(motion_.velocity_factor(c), world_.screw(c));
        own.V = parent + joint;
        own.set(own.c, bracket(own.V, joint));
      } else {
        const Screw<S> joint = scaled(motion_.velocity_factor(b.v), world_.screw(b.v));
        own.V = parent + joint;
        own.set(own.c, bracket(parent, joint));
      }
      if (joint_ == own_) joint_[i].rigid(world_.moments(i));
      own.set(own.p, b.massless ? Screw<S>{none, none} : dual_bracket(own.V, world_.moments(i).momentum(own.V)));
    }
  }

  // A wrench from outside on body i, in world axes about world.point(i).
  void apply_wrench(int i, const Screw<S>& f) {
    double w[8];
    body_[i].set(w, f);
    for (int r = 0; r < 6; ++r) body_[i].p[r] -= w[r];
  }

  // From tau to v'. Returns the body whose inertia has no inverse, or -1.
  int run(const double* tau, double* acceleration) {
    for (int c = 0; c < tree_.nv; ++c) force_[c] = tau[c];
    if (tree_.passive) subtract_passive();
    for (int i = tree_.size - 1; i >= 0; --i)
      if (!gather(i)) return i;
    State& ground = body_[-1];
    for (double& x : ground.a) x = 0;
    for (int r = 0; r < 3; ++r) ground.a[r] = -tree_.gravity[r];
    for (int i = 0; i < tree_.size; ++i) solve(i, acceleration);
    return -1;
  }

 private:
  static constexpr int W = native_width;
  using P = Pack<W>;

  struct State {
    alignas(64) double c[8], p[8], a[8];
    Screw<S> V;
    double u[6];

    static JOUNCE_INLINE void set(double (&to)[8], const Screw<S>& s) {
      to[0] = leading(s.v.x), to[1] = leading(s.v.y), to[2] = leading(s.v.z);
      to[3] = leading(s.w.x), to[4] = leading(s.w.y), to[5] = leading(s.w.z);
      to[6] = to[7] = 0;
    }
  };

  static JOUNCE_INLINE double dot(const double* a, const double* b) {
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5]);
  }

  bool gather(int i) {
    const Body& b = tree_.bodies[i];
    ArticulatedJoint& j = joint_[i];
    State& own = body_[i];
    double x[6];
    if (joint_ == own_) {
      double D[6][6];
      j.move(world_, b);
      j.project(D);
      for (int c = 0; c < j.dof; ++c) D[c][c] += tree_.armature[b.v + c];
      if (!j.invert(D)) return false;
      if (b.parent >= 0) joint_[b.parent].add_articulated(j);
    }
    for (int c = 0; c < j.dof; ++c) {
      own.u[c] = force_[b.v + c] - dot(j.S[c], own.p);
      x[c] = own.u[c] - dot(j.U[c], own.c);
    }
    if (b.parent < 0) return true;
    double* up = body_[b.parent].p;
    for (int l = 0; l < 8; l += W) {
      P sum = P::load(own.p + l);
      for (int r = 0; r < 6; ++r) sum += P(own.c[r]) * P::load(&j.I[r][l]);
      for (int c = 0; c < j.dof; ++c) sum += P(x[c]) * P::load(&j.G[c][l]);  // U D^-1 = G^T
      (P::load(up + l) + sum).store(up + l);
    }
    return true;
  }

  void solve(int i, double* acceleration) {
    const Body& b = tree_.bodies[i];
    const ArticulatedJoint& j = joint_[i];
    State& own = body_[i];
    const double* parent = body_[b.parent].a;
    for (int l = 0; l < 8; l += W) (P::load(parent + l) + P::load(own.c + l)).store(own.a + l);
    double* to = acceleration + b.v;
    for (int c = 0; c < j.dof; ++c) {
      double sum = 0;
      for (int d = 0; d < j.dof; ++d) sum += j.inverse[c][d] * own.u[d];
      to[c] = sum - dot(j.G[c], own.a);
    }
    if (b.end == b.v + j.dof) return;  // it carries nothing
    for (int l = 0; l < 8; l += W) {
      P sum = P::load(own.a + l);
      for (int c = 0; c < j.dof; ++c) sum += P(to[c]) * P::load(&j.S[c][l]);
      sum.store(own.a + l);
    }
  }

  void subtract_passive() {
    for (int c = 0; c < tree_.nv; ++c) force_[c] -= tree_.damping[c] * motion_.rate[c];
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (b.joint != Joint::free && b.joint != Joint::spherical) {
        force_[b.v] -= tree_.stiffness[b.v] * (motion_.q[b.q] - tree_.rest[b.v]);
        continue;
      }
      const int angular = motion_.angular(b);
      if (tree_.stiffness[angular] == 0 && tree_.stiffness[b.v] == 0) continue;
      for_each_ball_spring(b, motion_.q, motion_.rate, motion_.stride, 1, [&](int, const BallSpring& spring) {
        for (int r = 0; r < 3; ++r) {
          force_[angular + r] -= tree_.stiffness[angular] * spring.rotation_vector[r][0];
          if (b.joint == Joint::free) force_[b.v + r] -= tree_.stiffness[b.v] * spring.displacement[r][0];
        }
      });
    }
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  const WorldFrame<Ring>& world_;
  ArticulatedJoint *own_, *joint_;
  State* body_;
  double* force_;
};

JOUNCE_END
