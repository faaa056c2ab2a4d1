// Inverse dynamics one Taylor coefficient after the other, for motions that become known in that order: forward dynamics.
//
// The recursion is that of inverse_dynamics.hpp, in body axes, with w, the classical acceleration a of the origin and
// W = [w'] + [w]^2. Coefficient k of the forces is affine in coefficient k of the accelerations, with the same matrix at every order
// (paper A, Lemma 2):
//
//   tau_k = M(q) a_k + b_k,    b_k from the coefficients below k.
//
// move(i, k) and gather(i, k), for all bodies outwards and then inwards, compute b_k: the unknown accelerations of this order are zero
// there. What these add to the motion of a body and to the wrench through its joint, once they are known, is linear, with the geometry at
// order zero; who solves for them has both in world axes (articulated_bodies.hpp), and add_solved(i, k) takes them from there.
//
// T is double, or a Pack with a state in each lane; the order is a number, not a type.
#pragma once

#include "jounce/body_places.hpp"

JOUNCE_BEGIN

template <class T>
class InverseDynamicsByOrder {
 public:
  using Ring = ArrayRing<T, -1>;
  using V = Triple<T>;

  // To order `order`, from a motion, with room for as many coefficients of sections, and poses at order zero.
  template <class Arena>
  InverseDynamicsByOrder(const Tree& tree, Motion<Ring>& start, const BodyPlaces<T>& places, int order, Arena& arena)
      : tree_(tree),
        start_(start),
        places_(places),
        sections_(start.sections),
        n_(order + 1),
        K_(order + 2),
        stride_(round_up(tree.slots, native_width)) {
    rate_ = arena.template take<T>(K_ * stride_);
    cosine_ = arena.template take<T>(K_ * stride_);
    sine_ = arena.template take<T>(K_ * stride_);
    force_ = arena.template take<T>(n_ * stride_);
    level_ = arena.template take<Level>((tree.size + 1) * K_) + K_;
    more_ = arena.template take<More>(tree.size * K_);
    state_ = arena.template take<State>(tree.size + 1) + 1;
    ball_ = arena.template take<BallLevel>((tree.quaternion_count + tree.section_count) * (K_ + 1));
    ball_index_ = arena.template take<int>(tree.size);
  }

  T* rate(int k) const { return rate_ + k * stride_; }    // coefficient k of the velocities, by slots
  T* force(int k) const { return force_ + k * stride_; }  // coefficient k of the forces, by columns
  int stride() const { return stride_; }

  // The pose of a free joint's body in its joint frame: coefficient k, known once extend(k - 1) has run.
  const T* ball_rotation(int body, int k) const { return ball(body, k).R; }
  const T* ball_position(int body, int k) const { return ball(body, k).d; }

  // Positions in joint frames; rate(0) is to follow. `poses`: whether extend_pose will be called.
  void start(bool poses) {
    keep_more_ = poses;
    for (int k = 0; k < K_; ++k) level(-1, k) = {V::zero(), V::zero(), V::zero(), V::zero(), V::zero()};
    state_[-1].a = V::of(T(-tree_.gravity[0]), T(-tree_.gravity[1]), T(-tree_.gravity[2]));
    state_[-1].W = {{V::zero(), V::zero(), V::zero()}};
    state_[-1].da = state_[-1].dw = V::zero();
    for (int c = 0; c < tree_.columns; ++c) cosine_[c] = start_.cosine[c], sine_[c] = start_.sine[c];
    int balls = 0;
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (!is_ball(b.joint)) continue;
      ball_index_[i] = balls++;
      BallLevel& at = ball(i, 0);
      start_.rotation(b, at.R);
      transpose(at);
      for (int r = 0; r < 3; ++r) at.d[r] = start_.position(b, r);
    }
  }

  // Poses in the world, for add_solved and extend_pose.
  void set_poses() {
    for (int i = 0; i < tree_.size; ++i) {
      State& s = state_[i];
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) s.R[3 * r + c] = places_.column(i, c).data()[r];
      s.x = places_.position(i);
    }
  }

  // Coefficient k of the slots behind the robot's own velocities, from those.
  void fill_slots(int k) {
    for (int i = 0; i < tree_.follower_count; ++i) {
      const Follower& f = tree_.followers[i];
      rate_[k * stride_ + f.v] = T(f.ratio) * rate_[k * stride_ + f.leader_v];
    }
    if (tree_.soft) sections_.extend(tree_, k, start_.q, rate_, stride_, k > 0);
  }

  // Coefficient k + 1 of the joints' rotations, from velocities to order k.
  void extend(int k) {
    const T scale(1.0 / (k + 1));
    for (int c = 0; c < tree_.columns; ++c) {
      T ds(0.0), dc(0.0);
      for (int j = 0; j <= k; ++j) {
        ds += cosine_[j * stride_ + c] * rate_[(k - j) * stride_ + c];
        dc += sine_[j * stride_ + c] * rate_[(k - j) * stride_ + c];
      }
      sine_[(k + 1) * stride_ + c] = scale * ds;
      cosine_[(k + 1) * stride_ + c] = -(scale * dc);
    }
    for (int i = 0; tree_.quaternion_count + tree_.section_count > 0 && i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (!is_ball(b.joint)) continue;
      BallLevel& next = ball(i, k + 1);
      for (int row = 0; row < 3; ++row) {
        next_of_fixed_vector(
            k, [&](int j) { return ball(i, j).R + 3 * row; }, [&](int j) { return rate_ + j * stride_ + angular(b); }, next.R + 3 * row);
        T sum(0.0);
        for (int j = 0; j <= k && is_free(b.joint); ++j) {  // d' = R v
          const T *r = ball(i, j).R + 3 * row, *v = rate_ + (k - j) * stride_ + b.v;
          sum += r[0] * v[0] + r[1] * v[1] + r[2] * v[2];
        }
        next.d[row] = scale * sum;
      }
      transpose(next);
    }
  }

  // Coefficient k of body i's motion, and the wrench that it takes; outwards. rate(k + 1) is zero where it is unknown. `first`: k is 0,
  // which has code of its own.
  template <bool first>
  JOUNCE_INLINE void move(int i, int order) {
    const int k = first ? 0 : order;
    const Body& b = tree_.bodies[i];
    if (first) start_moving(i, b);
    if (i == 0 && k == 1) state_[-1].a = V::zero();  // the world's acceleration does not change
    Level &own = level(i, k), &next = level(i, k + 1);
    State& s = state_[i];
    next.w_P = sum_of_rows(b.R, level(b.parent, k + 1).w);
    own.a_P = sum_of_rows(b.R, state_[b.parent].W.plus_apply(state_[b.parent].a, b.p));
    if (is_ball(b.joint)) {
      move_ball(i, b, k);
    } else {
      if (turns(b.joint)) {
        V C = V::zero(), S = V::zero(), D = V::zero(), E = V::zero();
        const V& start = level(i, 0).w_P;
        C.add(cosine_[(k + 1) * stride_ + b.v], start), S.add(sine_[(k + 1) * stride_ + b.v], start);
        for (int j = k; j >= 0; --j) {  // what comes from the parent last
          const T c = cosine_[j * stride_ + b.v], sn = sine_[j * stride_ + b.v];
          const V &u = level(i, k + 1 - j).w_P, &e = level(i, k - j).a_P;
          C.add(c, u), S.add(sn, u);
          D.add(c, e), E.add(sn, e);
        }
        const T o(0.0);
        next.w = V::template turned<1>(C, S, next.w_P + V::of(o, o, rate_[(k + 1) * stride_ + b.v]));
        s.a = V::template turned<1>(D, E, own.a_P);
      } else {
        next.w = next.w_P;
        s.a = own.a_P;
      }
      s.W = acceleration_matrix(k, next.w, [&](int j) -> const V& { return level(i, j).w; });
      if (slides(b.joint)) slide(i, b, k);
    }
    if (keep_more_) more(i, k).a = s.a;
    if (b.massless)
      s.f = s.t = V::zero();
    else
      newton_euler(b, tree_.constants[i], s.a, s.W, s.f, s.t);
  }

  void apply_wrench(int i, const V& f, const V& t) {
    state_[i].f -= f;
    state_[i].t -= t;
  }
  // Columns of soft bodies are sums over sections; to be called before the first gather() of an order.
  void clear_sections(int k) {
    for (int i = 0; tree_.soft && i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      for (int c = 0; b.joint == Joint::section && c < b.count; ++c) force_[k * stride_ + b.column + c] = T(0.0);
    }
  }

  // The forces of body i's columns, coefficient k, into force(k), and its wrench towards the root; inwards.
  template <bool first>
  JOUNCE_INLINE void gather(int i, int order) {
    const int k = first ? 0 : order;
    const Body& b = tree_.bodies[i];
    const State& s = state_[i];
    Level& own = level(i, k);
    own.f = s.f;
    own.t = s.t;
    project<false>(b, s.f, s.t, k);
    if (b.joint == Joint::section)
      for (int j = 1; j <= k; ++j) add_section(b, j, level(i, k - j).f, level(i, k - j).t, k);
    if (b.parent < 0) return;
    V f = own.f, t = own.t;
    if (is_ball(b.joint)) {
      gather_ball(i, b, k, f, t);
    } else {
      if (slides(b.joint)) {  // about the joint frame's origin
        for (int j = 0; j <= k; ++j) own.t += moment_of_slide(slid(b, j), level(i, k - j).f);
        t = own.t;
      }
      if (turns(b.joint)) {
        V C = V::zero(), S = V::zero(), D = V::zero(), E = V::zero();
        for (int j = k; j >= 0; --j) {
          const T c = cosine_[j * stride_ + b.v], sn = sine_[j * stride_ + b.v];
          const Level& at = level(i, k - j);
          C.add(c, at.f), S.add(sn, at.f);
          D.add(c, at.t), E.add(sn, at.t);
        }
        f = V::template turned<-1>(C, S, f);
        t = V::template turned<-1>(D, E, t);
      }
    }
    const BodyConstants& constants = tree_.constants[i];
    State& parent = state_[b.parent];
    const V force = sum_of_rows(constants.R_transposed, f);
    parent.f += force;
    parent.t += sum_of_rows(constants.R_transposed, t) + V::cross(constants.p, force);
  }

  // What the accelerations of order k that were solved for add to body i: its acceleration A and the wrench F through its joint, in world
  // axes, and d, that of its joint if it has one coordinate; outwards. Where `forces`, to force(k) as well.
  template <bool forces>
  JOUNCE_INLINE void add_solved(int i, int k, const Six<T>& A, const Six<T>& F, const T& d) {
    const Body& b = tree_.bodies[i];
    State &s = state_[i], &parent = state_[b.parent];
    Level &own = level(i, k), &next = level(i, k + 1);
    const V A_w = V::load(A.angular()), F_f = V::load(F.linear());
    s.da = sum_of_rows(s.R, V::load(A.linear()) + cross_of(A_w, s.x));
    s.dw = sum_of_rows(s.R, A_w);
    V df = sum_of_rows(s.R, F_f), dt = sum_of_rows(s.R, V::load(F.angular()) - cross_of(s.x, F_f));
    if constexpr (forces) project<true>(b, df, dt, k);
    const T scale(1.0 / (k + 1));
    next.w.add(scale, s.dw);
    if (b.joint == Joint::revolute) {  // what it adds without its own turning, turned back
      const T c = cosine_[b.v], sn = sine_[b.v], o(0.0);
      const V dw = s.dw - V::of(o, o, d);
      V C = V::zero(), S = V::zero(), D = V::zero(), E = V::zero();
      C.add(c, dw), S.add(sn, dw);
      D.add(c, s.da), E.add(sn, s.da);
      next.w_P.add(scale, V::template turned<-1>(C, S, dw));
      own.a_P += V::template turned<-1>(D, E, s.da);
    } else {
      next.w_P = sum_of_rows(b.R, level(b.parent, k + 1).w);
      own.a_P += sum_of_rows(b.R, parent.da - V::cross(tree_.constants[i].p, parent.dw));
    }
    if (keep_more_) more(i, k).a += s.da;
    if (slides(b.joint)) more(i, k).W_z += s.dw.template skew<2>();
    if (is_free(b.joint) && b.parent >= 0) add_solved_free(i, k, sum_of_rows(b.R, parent.dw), df);
    if (slides(b.joint) && b.parent >= 0) dt += moment_of_slide(slid(b, 0), df);
    own.f += df;
    own.t += dt;
  }

  // The same for the slots: x by own coordinates; what rate(k + 1) had before stays.
  void add_solved_rates(int k, const T* x) {
    const T scale(1.0 / (k + 1));
    T* rate = rate_ + (k + 1) * stride_;
    for (int c = 0; c < tree_.nv; ++c) rate[c] += scale * x[c];
    for (int i = 0; i < tree_.follower_count; ++i)
      rate[tree_.followers[i].v] += scale * T(tree_.followers[i].ratio) * x[tree_.followers[i].leader_v];
    for (int i = 0; tree_.soft && i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      for (int r = 0; b.joint == Joint::section && r < 6; ++r)
        for (int c = 0; c < b.count; ++c) rate[b.v + r] += scale * sections_.factor(b.screw + c, r)[0] * x[b.column + c];
    }
  }

  // A body's rotation (9) and position (3) in the world, coefficient k from those below, in `R` and `x` by order: R' = R [w],
  // x'' = R a + g. Once move(., k) has run.
  void extend_pose(int body, int k, T* R, T* x) const {
    if (k == 0) {
      for (int j = 0; j < 9; ++j) R[j] = state_[body].R[j];
      for (int j = 0; j < 3; ++j) x[j] = places_.point(body)[j] + state_[body].x[j];
      return set_speed(body, x + 3);
    }
    for (int row = 0; row < 3; ++row)
      next_of_fixed_vector(
          k - 1, [&](int j) { return R + 9 * j + 3 * row; }, [&](int j) { return level(body, j).w.data(); }, R + 9 * k + 3 * row);
    if (k < 2) return;
    const T over(1.0 / (k * (k - 1)));
    for (int row = 0; row < 3; ++row) {
      T sum(k == 2 ? tree_.gravity[row] : 0.0);
      for (int j = 0; j <= k - 2; ++j) {
        const T *r = R + 9 * j + 3 * row, *a = more(body, k - 2 - j).a.data();
        sum += r[0] * a[0] + r[1] * a[1] + r[2] * a[2];
      }
      x[3 * k + row] = over * sum;
    }
  }

 private:
  // Coefficients of one order of one body; what all orders above read, and nothing else: this is where the time goes.
  struct Level {
    V w_P, a_P;  // angular velocity and acceleration of the joint frame, in its axes
    V w;         // angular velocity of the body
    V f, t;      // wrench through the joint; t about the joint frame's origin where the joint slides
  };
  // What few read: the body's acceleration (poses), and the third column of W (joints that slide).
  struct More {
    V a, W_z;
  };
  // Of a joint that turns about any axis; each array has one number more than it needs.
  struct BallLevel {
    T R[10], R_transposed[10], d[4];  // rotation and position
    TripleMatrix<T> W_P;              // of the joint frame
    V f_P;                            // force in the axes of the joint frame
  };
  struct State {
    TripleMatrix<T> W;  // of this order, and the acceleration
    V a;
    V f, t;    // the wrench that this order's motion takes
    V da, dw;  // what the accelerations of the order before added to a and w'
    V x;       // position and rotation in the world, at order zero
    T R[10];
  };

  Level& level(int body, int k) const { return level_[body * K_ + k]; }
  More& more(int body, int k) const { return more_[body * K_ + k]; }
  BallLevel& ball(int body, int k) const { return ball_[ball_index_[body] * (K_ + 1) + k]; }
  static void transpose(BallLevel& at) {
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) at.R_transposed[3 * r + c] = at.R[3 * c + r];
    at.R[9] = at.R_transposed[9] = at.d[3] = T(0.0);
  }
  static V turn(const BallLevel& at, const V& u) { return sum_of_rows(at.R_transposed, u); }
  static V turn_back(const BallLevel& at, const V& u) { return sum_of_rows(at.R, u); }
  V joint_angular(const Body& b, int k) const {
    const T* w = rate_ + k * stride_ + angular(b);
    return V::of(w[0], w[1], w[2]);
  }

  // Coefficient j of the distance that a joint has slid, and what a force in body axes makes of it.
  T slid(const Body& b, int j) const { return T(b.slide) * (j == 0 ? start_.q[b.q] : T(1.0 / j) * rate_[(j - 1) * stride_ + b.v]); }
  static V moment_of_slide(const T& d, const V& f) { return V::of(-(d * f[1]), d * f[0], T(0.0)); }

  // Its angular velocity at order zero.
  JOUNCE_INLINE void start_moving(int i, const Body& b) {
    Level& own = level(i, 0);
    own.w_P = sum_of_rows(b.R, level(b.parent, 0).w);
    if (is_ball(b.joint)) {
      own.w = turn_back(ball(i, 0), own.w_P) + joint_angular(b, 0);
    } else if (turns(b.joint)) {
      V C = V::zero(), S = V::zero();
      C.add(cosine_[b.v], own.w_P), S.add(sine_[b.v], own.w_P);
      const T o(0.0);
      own.w = V::template turned<1>(C, S, own.w_P + V::of(o, o, rate_[b.v]));
    } else {
      own.w = own.w_P;
    }
  }

  // What sliding adds to the acceleration.
  JOUNCE_NOINLINE void slide(int i, const Body& b, int k) {
    V& a = state_[i].a;
    const T *rate = rate_ + b.v, o(0.0);
    more(i, k).W_z = state_[i].W.c[2];
    for (int j = 0; j <= k; ++j) {
      const V& w = level(i, k - j).w;
      const T speed = T(2 * b.slide) * rate[j * stride_];
      a.add(slid(b, j), more(i, k - j).W_z);
      a += V::of(speed * w[1], -(speed * w[0]), o);
    }
    a += V::of(o, o, T((k + 1) * b.slide) * rate[(k + 1) * stride_]);
  }

  JOUNCE_NOINLINE void move_ball(int i, const Body& b, int k) {
    Level &own = level(i, k), &next = level(i, k + 1);
    V& a = state_[i].a;
    const bool free = is_free(b.joint), moving = b.parent >= 0;
    if (moving && free) {
      ball(i, k).W_P = acceleration_matrix(k, next.w_P, [&](int j) -> const V& { return level(i, j).w_P; });
      for (int j = 0; j <= k; ++j)
        for (int c = 0; c < 3; ++c) own.a_P.add(ball(i, k - j).d[c], ball(i, j).W_P.c[c]);
    }
    next.w = V::zero();
    a = V::zero();
    if (moving) {
      for (int j = 0; j <= k + 1; ++j) next.w += turn_back(ball(i, j), level(i, k + 1 - j).w_P);
      for (int j = 0; j <= k; ++j) a += turn_back(ball(i, j), level(i, k - j).a_P);
    } else {
      a = turn_back(ball(i, k), level(i, 0).a_P);
    }
    next.w += joint_angular(b, k + 1);
    if (free) {
      const auto velocity = [&](int j) {
        const T* v = rate_ + j * stride_ + b.v;
        return V::of(v[0], v[1], v[2]);
      };
      for (int j = 0; j <= k; ++j) {  // (2 w - w_J) x v
        const V& w = level(i, j).w;
        a += cross_of(w + w - joint_angular(b, j), velocity(k - j));
      }
      a.add(T(k + 1.0), velocity(k + 1));
    }
    state_[i].W = acceleration_matrix(k, next.w, [&](int j) -> const V& { return level(i, j).w; });
  }

  // Coefficient k of W = [w'] + [w]^2, given coefficient k + 1 of w: [w]^2 = w w^T - |w|^2.
  template <class W>
  static JOUNCE_INLINE TripleMatrix<T> acceleration_matrix(int k, const V& next, const W& w) {
    V x = V::zero(), y = V::zero(), z = V::zero(), squares = V::zero(), rate = V::zero();
    for (int j = 0; j <= k; ++j) {
      const V &a = w(j), &b = w(k - j);
      x.add(a.data()[0], b), y.add(a.data()[1], b), z.add(a.data()[2], b);
      squares += products(a, b);
    }
    const V trace = squares.total();
    rate.add(T(k + 1.0), next);
    return {{x - trace.template only_entry<0>() + rate.template skew<0>(), y - trace.template only_entry<1>() + rate.template skew<1>(),
             z - trace.template only_entry<2>() + rate.template skew<2>()}};
  }

  // newton_euler.hpp: f = m a + W h, n = h x a + axial(W J), the latter as a sum of J_j x W_j over columns.
  static JOUNCE_INLINE void newton_euler(const Body& b, const BodyConstants& constants, const V& a, const TripleMatrix<T>& W, V& f, V& t) {
    V force = V::zero(), one = V::zero(), two = V::zero();
    force.add(T(b.mass), a);
    f = W.plus_apply(force, b.first);
    one.add_cross(constants.second[0], W.c[0]);
    two.add_cross(constants.second[1], W.c[1]);
    one.add_cross(constants.second[2], W.c[2]);
    two.add_cross(constants.first, a);
    t = (one + two).crossed();
  }

  JOUNCE_NOINLINE void gather_ball(int i, const Body& b, int k, V& f, V& t) {
    f = t = V::zero();
    for (int j = 0; j <= k; ++j) {
      f += turn(ball(i, j), level(i, k - j).f);
      t += turn(ball(i, j), level(i, k - j).t);
    }
    if (!is_free(b.joint)) return;
    ball(i, k).f_P = f;
    for (int j = 0; j <= k; ++j) t += cross_of(V::load(ball(i, j).d), ball(i, k - j).f_P);
  }

  JOUNCE_NOINLINE void add_solved_free(int i, int k, const V& dw_P, const V& df) {
    BallLevel& at = ball(i, k);
    at.W_P.c[0] += dw_P.template skew<0>(), at.W_P.c[1] += dw_P.template skew<1>(), at.W_P.c[2] += dw_P.template skew<2>();
    level(i, k).a_P += cross_of(dw_P, V::load(ball(i, 0).d));
    at.f_P += turn(ball(i, 0), df);
  }

  // S^T (f, t) of body i's columns into force(k); of a section only what its screws at order zero make, which is added.
  template <bool add>
  JOUNCE_INLINE void project(const Body& b, const V& f, const V& t, int k) {
    T* force = force_ + k * stride_;
    const auto put = [&](int c, const T& x) JOUNCE_LAMBDA_INLINE { force[c] = add ? force[c] + x : x; };
    if (!is_ball(b.joint)) {
      put(b.v, b.joint == Joint::revolute ? t[2] : b.joint == Joint::prismatic ? f[2] : t[2] + T(b.slide) * f[2]);
    } else if (b.joint == Joint::section) {
      add_section(b, 0, f, t, k);
    } else {
      for (int r = 0; r < 3; ++r) {
        put(angular(b) + r, t.data()[r]);
        if (b.joint == Joint::free) put(b.v + r, f.data()[r]);
      }
    }
  }
  // Coefficient j of a section's screws times a wrench, into force(k).
  JOUNCE_NOINLINE void add_section(const Body& b, int j, const V& f, const V& t, int k) {
    for (int c = 0; c < b.count; ++c) {
      T sum(0.0);
      for (int r = 0; r < 3; ++r)
        sum += sections_.factor(b.screw + c, r)[j] * f.data()[r] + sections_.factor(b.screw + c, 3 + r)[j] * t.data()[r];
      force_[k * stride_ + b.column + c] += sum;
    }
  }

  // The velocity of a body's origin in world axes at order zero: the sum along its path of v_J + w_J x (from the joint to the body).
  void set_speed(int body, T* speed) const {
    V sum = V::zero();
    for (int i = body; i >= 0; i = tree_.bodies[i].parent) {
      const Body& b = tree_.bodies[i];
      const State& s = state_[i];
      V v = V::zero(), w = V::zero();
      const T o(0.0);
      if (is_ball(b.joint)) w = joint_angular(b, 0);
      if (turns(b.joint)) w = V::of(o, o, rate_[b.v]);
      if (slides(b.joint)) v = V::of(o, o, T(b.slide) * rate_[b.v]);
      if (is_free(b.joint)) v = V::of(rate_[b.v], rate_[b.v + 1], rate_[b.v + 2]);
      T back[10];
      for (int r = 0; r < 9; ++r) back[r] = s.R[3 * (r % 3) + r / 3];
      back[9] = o;
      sum += sum_of_rows(back, v) + cross_of(sum_of_rows(back, w), state_[body].x - s.x);
    }
    for (int r = 0; r < 3; ++r) speed[r] = sum[r];
  }

  const Tree& tree_;
  const Motion<Ring>& start_;
  const BodyPlaces<T>& places_;
  SectionTables<T>& sections_;
  int n_, K_, stride_;
  T *rate_, *cosine_, *sine_, *force_;
  Level* level_;
  More* more_;
  bool keep_more_ = false;
  State* state_;
  BallLevel* ball_;
  int* ball_index_;
};

JOUNCE_END
