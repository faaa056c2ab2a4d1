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

#include "jounce/armature.hpp"
#include "jounce/columns.hpp"

JOUNCE_BEGIN

// B = [m[w], -G; m[v] + G, N] in sums: `turning` = m w, `moving` = m v, G = [w][h], N = -[v][h] + [w] (tr J - J).
template <class S>
struct MomentumRate {
  Vec3<S> turning, moving;
  Mat3<S> G, N;

  static MomentumRate none() {
    const S zero(0.0);
    const Vec3<S> o{zero, zero, zero};
    return {o, o, {o, o, o}, {o, o, o}};
  }

  JOUNCE_INLINE MomentumRate& operator+=(const MomentumRate& b) {
    turning += b.turning, moving += b.moving;
    G.cx += b.G.cx, G.cy += b.G.cy, G.cz += b.G.cz;
    N.cx += b.N.cx, N.cy += b.N.cy, N.cz += b.N.cz;
    return *this;
  }

  static JOUNCE_NOINLINE MomentumRate of(const Moments<S>& m, const Screw<S>& V) {
    const Vec3<S>& h = m.first;
    MomentumRate b{m.mass * V.w, m.mass * V.v, double_cross(V.w, h), double_cross(V.v, h)};
    const Vec3<S> jx{m.yy + m.zz, -m.xy, -m.xz}, jy{-m.xy, m.xx + m.zz, -m.yz}, jz{-m.xz, -m.yz, m.xx + m.yy};
    b.N = {cross(V.w, jx) - b.N.cx, cross(V.w, jy) - b.N.cy, cross(V.w, jz) - b.N.cz};
    return b;
  }

  // B t and B^T t
  JOUNCE_INLINE Screw<S> apply(const Screw<S>& t) const {
    return {cross(turning, t.v) - turn(G, t.w), cross(moving, t.v) + turn(G, t.v) + turn(N, t.w)};
  }
  JOUNCE_INLINE Screw<S> apply_transpose(const Screw<S>& t) const {
    return {turn_back(G, t.w) - cross(turning, t.v) - cross(moving, t.w), turn_back(N, t.w) - turn_back(G, t.v)};
  }

 private:
  // [a][b] = b a^T - (a . b) 1
  static JOUNCE_INLINE Mat3<S> double_cross(const Vec3<S>& a, const Vec3<S>& b) {
    const auto column = [&](const auto& s) { return Vec3<S>{s * b.x, s * b.y, s * b.z}; };
    Mat3<S> y{column(as_factor(a.x)), column(as_factor(a.y)), column(as_factor(a.z))};
    const S x = y.cx.x, xy = x + y.cy.y, yz = y.cy.y + y.cz.z, xz = x + y.cz.z;
    y.cx.x = -yz, y.cy.y = -xz, y.cz.z = -xy;
    return y;
  }
};

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
        above_(tree.nv, rows, arena),
        below_(tree.nv, rows, arena),
        right_(tree.nv, rows, arena),
        descent_(tree, arena),
        upper_(arena.template take<double>(above_.stride())),
        lower_(arena.template take<double>(above_.stride())),
        twist_(arena.template take<Screw<A>>(tree.size + 1) + 1),
        moments_(arena.template take<Moments<A>>(tree.size)),
        rate_(arena.template take<MomentumRate<A>>(tree.size)) {}

  // Derivatives 0 .. rows - 1 into out (rows, nv, nv); after WorldFrame::weigh.
  void run(Axes axes, double* out) {
    carry();
    above_.clear();
    right_.clear();
    below_.clear();
    for (int i = 0; i < tree_.size; ++i)
      for (int c = tree_.bodies[i].v, end = c + freedom(tree_.bodies[i].joint); c < end; ++c) fill(i, c);
    const int nv = tree_.nv;
    std::memset(out, 0, sizeof(double) * rows_ * nv * nv);
    for (int k = 0; k < rows_; ++k, out += std::ptrdiff_t(nv) * nv) {
      for (int i = 0; i < tree_.size; ++i) {
        const Body& b = tree_.bodies[i];
        for (int c = b.v, last = c + freedom(b.joint); c < last; ++c) {
          pairings<6>(above_, right_, k, c, c, b.end, upper_);
          pairings<12>(above_, below_, k, c, c, b.end, lower_);
          descent_.for_each(i, [&](int begin, int end) {
            for (int d = begin < c ? c : begin; d < end; ++d) {
              out[d * nv + c] = factorial.value[k] * lower_[d];
              out[c * nv + d] = factorial.value[k] * upper_[d];
            }
          });
        }
      }
      if (tree_.passive) Armature<Ring>(tree_, world_, axes).template add<true>(k, out);
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

  JOUNCE_NOINLINE void fill(int i, int c) {
    const Screw<A> J = truncate<n>(world_.screw(c)), dJ = derivative(world_.screw(c));
    above_.set(c, J);
    above_.set(c, dJ, 6);
    right_.set(c, moments_[i].momentum(dJ) + rate_[i].apply(J));
    below_.set(c, rate_[i].apply_transpose(J));
    below_.set(c, moments_[i].momentum(J), 6);
  }

  const Tree& tree_;
  const WorldFrame<Ring>& world_;
  int rows_;
  Columns<12> above_, below_;  // (J, J') and (B^T J, I J)
  Columns<6> right_;           // I J' + B J
  Descent descent_;
  double *upper_, *lower_;
  Screw<A>* twist_;
  Moments<A>* moments_;
  MomentumRate<A>* rate_;
};

JOUNCE_END
