// M x = f in time linear in the number of bodies: the articulated-body algorithm (Featherstone; paper A, Lemma 2), over clusters
// (Chignoli et al., arXiv 2311.13732), at order zero and in world axes about a fixed point (body_places.hpp).
//
// Below, S are the screws of a body, I its articulated inertia, and y the n coordinates of a cluster that hangs on body p:
//
//   inwards    U = sum over its bodies of I S,    D = sum of S^T I S + armature  (n, n),    u = f - sum of S^T (P + I c)
//              I_p += sum of I - U D^-1 U^T,      P_p += sum of P + I c + U D^-1 u
//   outwards   y = D^-1 (u - U^T A_p),            A = A_p + c + S y   for each body,
//
// where P are additional wrenches on bodies and c additional accelerations of theirs, zero if only M x = f is to be solved.
//
// For a joint alone in its cluster, this is the textbook algorithm. Where paths inside a cluster have several joints, the screws of its
// bodies relative to p are sums along these paths, and so is c in u; I is then passed from body to body with the cluster's coordinates
// held, and D has a term for each pair of joints on a path, as a mass matrix has. D and the I of all bodies are the same at every order
// of forward dynamics: they are factored once. Coordinates whose motion is prescribed are held, too.
#pragma once

#include "jounce/motion/body_places.hpp"

JOUNCE_BEGIN

// Below this fraction of the terms it is made of, a pivot is rounding error; below the second one, it has lost digits that matter. In a
// cluster of several bodies, whose motions may be close to each other, the limits are a thousandth of these.
constexpr double singular_fraction = 1e-12, doubtful_fraction = 1e-8;

JOUNCE_INLINE bool any_at_most(double a, double b) { return !(a > b); }
JOUNCE_INLINE bool any_at_most(const DoubleDouble& a, const DoubleDouble& b) { return !(a > b); }
template <int W>
JOUNCE_INLINE bool any_at_most(const Pack<W>& a, const Pack<W>& b) {
  bool any = false;
  for (int i = 0; i < W; ++i) any |= !(a[i] > b[i]);
  return any;
}

template <class T>
class ArticulatedBodies {
 public:
  template <class Arena>
  ArticulatedBodies(const Tree& tree, BodyPlaces<T>& places, Arena& arena)
      : tree_(tree),
        places_(places),
        I_(arena.template take<Inertia>(tree.size + 1) + 1),
        S_(arena.template take<Six<T>>(tree.screws)),
        U_(arena.template take<Six<T>>(tree.nv)),
        G_(arena.template take<Six<T>>(tree.nv)),
        D_(arena.template take<T>(tree.blocks)),
        scale_(arena.template take<T>(tree.nv)),
        u_(arena.template take<T>(tree.nv)),
        P_(arena.template take<Six<T>>(tree.size + 1) + 1),
        A_(arena.template take<Six<T>>(tree.size + 1) + 1),
        c_(arena.template take<Six<T>>(tree.size)) {}

  const Solvability& equations() const { return equations_; }  // at this instant; for several states, the worst
  const Six<T>* screws() const { return S_; }
  const Six<T>& screw(int i) const { return S_[i]; }
  const Six<T>& G(int own) const { return G_[own]; }  // row of D^-1 U^T
  bool holds(int own) const { return held_ && held_[own]; }
  JOUNCE_INLINE bool holds_body(int i) const {  // any coordinate of its joint
    const Body& b = tree_.bodies[i];
    if (b.single) return holds(b.column);
    const Cluster& cluster = tree_.clusters[b.cluster];
    for (int c = 0; c < b.count && cluster.count > 0; ++c)
      if (holds(own(cluster, b.local + c))) return true;
    return false;
  }
  const T& inverse_pivot(const Body& single) const { return D_[single.block]; }
  const T* block(const Cluster& cluster) const { return D_ + cluster.block; }  // L, with the inverses of the pivots on the diagonal

  // The articulated inertia of a body: what it takes to move it when it is cut off, with all that it carries, from the rest. The joints
  // that it carries are free, except for those that follow one that it does not carry: these are held.
  void inertia(int body, T (&out)[6][6]) {
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) out[r][c] = I_[body].row[r][c];
    const Cluster& cluster = tree_.clusters[tree_.bodies[body].cluster];
    if (cluster.alone) return;
    const int n = cluster.count;
    bool* held = reinterpret_cast<bool*>(u_);  // not needed now
    for (int c = 0; c < n; ++c) held[c] = true;
    for (int i = body + 1; i < tree_.size; ++i)
      if (const Body& b = tree_.bodies[i]; &tree_.clusters[b.cluster] == &cluster && b.column < tree_.nv && carries(body, i))
        for (int c = 0; c < b.count; ++c) held[b.local + c] = false;
    open(cluster);
    for (int i = tree_.size - 1; i > body; --i)
      if (const Body& b = tree_.bodies[i]; &tree_.clusters[b.cluster] == &cluster && carries(body, i)) gather(i, b, cluster, body);
    for (int c = 0; c < n; ++c)
      if (held[c]) hold(cluster, c);
    for (int c = 0; c < n; ++c) scale_[own(cluster, c)] = T(0.0);
    factor_block(cluster);
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < n; ++c)
        for (int d = 0; d < 6; ++d) out[r][d] -= U_[own(cluster, c)][r] * G_[own(cluster, c)][d];
  }
  int own(const Cluster& cluster, int c) const { return tree_.cluster_columns[cluster.first + c]; }

  // x = D^-1 x, for the coordinates of a cluster in order.
  JOUNCE_INLINE void solve_block(const Cluster& cluster, T* x) const {
    const T* L = D_ + cluster.block;
    const int n = cluster.count;
    if (n == 1) {
      x[0] = L[0] * x[0];
      return;
    }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) x[i] -= L[i * n + j] * x[j];
    for (int i = n - 1; i >= 0; --i) {
      x[i] = L[i * n + i] * x[i];
      for (int j = i + 1; j < n; ++j) x[i] -= L[j * n + i] * x[j];
    }
  }

  // `held`: (nv), which coordinates are prescribed, or null. `armature`: that of all columns as a matrix, or null: the diagonal of
  // Tree::armature.
  void start(const bool* held, const double* armature = nullptr) {
    equations_ = {};
    held_ = held;
    armature_ = armature;
    for (int i = 0; i < tree_.cluster_count; ++i)
      if (!tree_.clusters[i].alone) open(tree_.clusters[i]);
  }
  // Inertia and screws of body i by itself, once it is placed; screw() sets others.
  JOUNCE_INLINE void set_body(int i) {
    places_.set_inertia(i, I_[i].row);
    places_.set_screws(i, S_ + tree_.bodies[i].screw);
  }
  Six<T>& screw(int i) { return S_[i]; }

  // Adds body i to the articulated inertia of its parent; after all bodies behind i. False if the body has no inertia to move.
  JOUNCE_INLINE bool reduce(int i) {
    const Body& b = tree_.bodies[i];
    if (!b.single || is_held(b)) return reduce_several(i, b);
    const int at = b.column;
    U_[at] = I_[i].apply(S_[b.screw]);
    if (!invert(i, dot(S_[b.screw], U_[at]) + armature(at, at), I_[i].size(S_[b.screw]) + armature(at, at), D_ + b.block, at)) return false;
    if (b.parent >= 0) I_[b.parent].add_reduced(I_[i], 1, U_ + at, G_ + at);
    return true;
  }
  // The whole factorization, once set_body() has run for all bodies. Returns the body that has no inertia to move, or -1.
  int factor(const bool* held, const double* armature = nullptr) {
    start(held, armature);
    for (int i = tree_.size - 1; i >= 0; --i)
      if (!reduce(i)) return i;
    return -1;
  }

  // The sweep inwards, for i from last to first: f in force(), P in wrenches() and, if there are any, c in accelerations().
  T* force() { return u_; }
  Six<T>* wrenches() { return P_; }  // from -1, the world
  Six<T>* accelerations() { return c_; }
  template <bool accelerated>
  JOUNCE_INLINE void inwards(int i) {
    const Body& b = tree_.bodies[i];
    if (!b.single || is_held(b)) return inwards_several<accelerated>(i, b);
    Six<T> P = P_[i];
    if constexpr (accelerated) P += I_[i].apply(c_[i]);
    const T u = u_[b.column] - dot(S_[b.screw], P);
    u_[b.column] = u;
    Six<T> up = P_[b.parent] + P;
    up.add(u, G_[b.column]);  // U D^-1 = G^T
    P_[b.parent] = up;
  }

  // The sweep outwards: sets x (nv) if body i is the first of its cluster, zero where it is held; and the acceleration of the body.
  template <bool accelerated>
  JOUNCE_INLINE void outwards(int i, T* x) {
    const Body& b = tree_.bodies[i];
    if (b.single) {
      Six<T> A = A_[b.parent];
      const T y = is_held(b) ? T(0.0) : D_[b.block] * u_[b.column] - dot(G_[b.column], A);
      x[b.column] = y;
      if constexpr (accelerated) A += c_[i];
      A.add(y, S_[b.screw]);
      A_[i] = A;
      return;
    }
    outwards_several<accelerated>(i, b, x);
  }
  void start_outwards() { A_[-1] = Six<T>::zero(); }

  // The acceleration of a body, and the wrench through its joint: I A + P, plus the contribution of the joints of other bodies of its
  // cluster that hang on it.
  const Six<T>& acceleration(int i) const { return A_[i]; }
  JOUNCE_INLINE Six<T> wrench(int i, const T* x) const {
    Six<T> F = P_[i] + I_[i].apply(A_[i]);
    const Body& b = tree_.bodies[i];
    if (!b.single && tree_.clusters[b.cluster].nested) add_cluster_wrench(i, tree_.clusters[b.cluster], x, F);
    return F;
  }

  // x = M^-1 f, zero where held; both (nv), possibly the same array.
  void solve(const T* f, T* x) {
    for (int c = 0; c < tree_.nv; ++c) u_[c] = f[c];
    for (int i = -1; i < tree_.size; ++i) P_[i] = Six<T>::zero();
    for (int i = tree_.size - 1; i >= 0; --i) inwards<false>(i);
    start_outwards();
    for (int i = 0; i < tree_.size; ++i) outwards<false>(i, x);
  }

 private:
  struct Inertia {
    Six<T> row[6];

    JOUNCE_INLINE void add(const Inertia& b) {
      for (int r = 0; r < 6; ++r) row[r] += b.row[r];
    }
    JOUNCE_INLINE void subtract(const Six<T>& U, const Six<T>& G) {
      for (int r = 0; r < 6; ++r) row[r].add(-U[r], G);
    }
    // += b - sum of U G^T
    JOUNCE_INLINE void add_reduced(const Inertia& b, int count, const Six<T>* U, const Six<T>* G) {
      for (int r = 0; r < 6; ++r) {
        Six<T> sum = row[r] + b.row[r];
        for (int c = 0; c < count; ++c) sum.add(-U[c][r], G[c]);
        row[r] = sum;
      }
    }
    JOUNCE_INLINE Six<T> apply(const Six<T>& s) const {
      Six<T> one = Six<T>::zero(), two = one;
      for (int r = 0; r < 6; r += 2) one.add(s[r], row[r]), two.add(s[r + 1], row[r + 1]);
      return one + two;
    }
    // The size of the terms of s . I s, without cancellation.
    JOUNCE_INLINE T size(const Six<T>& s) const {
      T sum(0.0);
      for (int r = 0; r < 6; ++r) sum += s[r] * s[r] * row[r][r];
      return sum;
    }
  };

  bool is_held(const Body& b) const { return holds(b.column); }
  bool is_held(int own) const { return holds(own); }
  T armature(int c, int d) const {
    if (armature_) return T(armature_[std::ptrdiff_t(c) * tree_.columns + d]);
    return T(c == d ? tree_.armature[c] : 0.0);
  }

  JOUNCE_NOINLINE bool reduce_several(int i, const Body& b) {
    const Cluster& cluster = tree_.clusters[b.cluster];
    if (cluster.alone) {
      if (cluster.count == 0 || is_held(b)) {
        I_[b.parent].add(I_[i]);
        return true;
      }
      if (!project(i, b, cluster)) return false;
      if (b.parent >= 0) I_[b.parent].add_reduced(I_[i], cluster.count, U_ + b.column, G_ + b.column);
      return true;
    }
    gather(i, b, cluster, cluster.up);
    I_[b.parent].add(I_[i]);
    if (cluster.body != i) return true;
    if (!close(cluster)) return false;
    for (int c = 0; c < cluster.count; ++c) I_[cluster.up].subtract(U_[own(cluster, c)], G_[own(cluster, c)]);
    return true;
  }

  template <bool accelerated>
  JOUNCE_NOINLINE void inwards_several(int i, const Body& b) {
    const Cluster& cluster = tree_.clusters[b.cluster];
    Six<T> P = P_[i], more = Six<T>::zero();
    if constexpr (accelerated) {
      P += I_[i].apply(c_[i]);
      if (cluster.nested)
        for (int a = b.parent; a != cluster.up; a = tree_.bodies[a].parent) more += c_[a];
      more = I_[i].apply(more);
    }
    more += P;
    for (int c = 0; c < b.count && cluster.count > 0; ++c) u_[own(cluster, b.local + c)] -= T(b.ratio) * dot(S_[b.screw + c], more);
    P_[b.parent] += P;
    if (cluster.body != i) return;
    for (int c = 0; c < cluster.count; ++c)
      if (const int at = own(cluster, c); !is_held(at)) P_[cluster.up].add(u_[at], G_[at]);
  }

  template <bool accelerated>
  JOUNCE_NOINLINE void outwards_several(int i, const Body& b, T* x) {
    const Cluster& cluster = tree_.clusters[b.cluster];
    if (cluster.body == i) spread(cluster, x);
    Six<T> A = A_[b.parent];
    if constexpr (accelerated) A += c_[i];
    for (int c = 0; c < b.count && cluster.count > 0; ++c) A.add(T(b.ratio) * x[own(cluster, b.local + c)], S_[b.screw + c]);
    A_[i] = A;
  }

  // The joints of the cluster's bodies that body i carries move those beyond it.
  JOUNCE_NOINLINE void add_cluster_wrench(int i, const Cluster& cluster, const T* x, Six<T>& F) const {
    for (int j = i + 1; j < tree_.size; ++j) {
      const Body& b = tree_.bodies[j];
      if (&tree_.clusters[b.cluster] != &cluster || !carries(i, j)) continue;
      for (int c = 0; c < b.count; ++c) F.add(T(b.ratio) * x[own(cluster, b.local + c)], I_[j].apply(S_[b.screw + c]));
    }
  }

  // A body alone in its cluster, with several coordinates.
  JOUNCE_INLINE bool project(int i, const Body& b, const Cluster& cluster) {
    T* D = D_ + cluster.block;
    const int n = cluster.count;
    for (int c = 0; c < n; ++c) {
      U_[b.column + c] = I_[i].apply(S_[b.screw + c]);
      for (int d = 0; d <= c; ++d) D[c * n + d] = dot(S_[b.screw + d], U_[b.column + c]) + armature(b.column + c, b.column + d);
      scale_[b.column + c] = I_[i].size(S_[b.screw + c]) + armature(b.column + c, b.column + c);
    }
    return factor_block(cluster);
  }

  void open(const Cluster& cluster) {
    for (int c = 0; c < cluster.count * cluster.count; ++c) D_[cluster.block + c] = T(0.0);
    for (int c = 0; c < cluster.count; ++c) {
      U_[own(cluster, c)] = Six<T>::zero();
      scale_[own(cluster, c)] = T(0.0);
    }
  }

  bool carries(int body, int other) const {
    for (other = tree_.bodies[other].parent; other > body;) other = tree_.bodies[other].parent;
    return other == body;
  }

  // One body of a cluster of several, after all that it carries, on paths from body `up`.
  void gather(int i, const Body& b, const Cluster& cluster, int up) {
    T* D = D_ + cluster.block;
    const int n = cluster.count;
    const T ratio(b.ratio);
    for (int c = 0; c < b.count; ++c) {
      const int row = b.local + c, at = own(cluster, row);
      const Six<T> IS = I_[i].apply(S_[b.screw + c]);
      U_[at].add(ratio, IS);
      scale_[at] +=
          ratio * ratio * (I_[i].size(S_[b.screw + c]) + (b.joint == Joint::section ? T(0.0) : armature(b.column + c, b.column + c)));
      for (int d = 0; d < b.count; ++d)
        D[row * n + b.local + d] +=
            ratio * ratio * (dot(S_[b.screw + d], IS) + (b.joint == Joint::section ? T(0.0) : armature(b.column + c, b.column + d)));
      for (int a = b.parent; a != up; a = tree_.bodies[a].parent) {
        const Body& above = tree_.bodies[a];
        for (int d = 0; d < above.count; ++d) {
          const T x = ratio * T(above.ratio) * dot(S_[above.screw + d], IS);
          D[row * n + above.local + d] += x;
          D[(above.local + d) * n + row] += x;
        }
      }
    }
  }

  // Completes a cluster, once all its bodies are gathered.
  bool close(const Cluster& cluster) {
    for (int c = 0; c < cluster.count; ++c)
      if (is_held(own(cluster, c))) hold(cluster, c);
    return factor_block(cluster);
  }
  void hold(const Cluster& cluster, int c) {
    T* D = D_ + cluster.block;
    const int n = cluster.count;
    for (int d = 0; d < n; ++d) D[c * n + d] = D[d * n + c] = T(c == d ? 1.0 : 0.0);
    scale_[own(cluster, c)] = T(1.0);
    U_[own(cluster, c)] = Six<T>::zero();
  }

  JOUNCE_INLINE bool invert(int body, const T& pivot, const T& scale, T* D, int at) {
    if (any_at_most(pivot, T(doubtful_fraction) * scale) && !is_regular(body, pivot, scale, singular_fraction)) return false;
    *D = T(1.0) / pivot;
    G_[at] = Six<T>::zero();
    G_[at].add(*D, U_[at]);
    return true;
  }

  // Judges a pivot that is small compared with the terms it is made of.
  JOUNCE_NOINLINE bool is_regular(int body, const T& pivot, const T& scale, double singular) {
    if (any_at_most(pivot, T(singular) * scale)) {
      equations_ = {body, true, 1.0};
      return false;
    }
    for (int s = 0; s < states((const T*)nullptr); ++s)
      if (const double error = 1e-16 * state(scale, s) / state(pivot, s); error > equations_.error) equations_ = {body, false, error};
    return true;
  }

  // D = L diag(pivot) L^T in place, the inverses of the pivots on the diagonal, and G. False if a pivot is rounding error.
  bool factor_block(const Cluster& cluster) {
    T* D = D_ + cluster.block;
    const int n = cluster.count;
    if (n == 1) return invert(cluster.body, D[0], scale_[own(cluster, 0)], D, own(cluster, 0));
    const double part = cluster.alone ? 1.0 : 1e-3;
    for (int i = 0; i < n; ++i) {
      T pivot = D[i * n + i];
      for (int j = 0; j < i; ++j) {
        T sum = D[i * n + j];
        for (int k = 0; k < j; ++k) sum -= D[k * n + i] * D[j * n + k];  // above the diagonal: L_ik times pivot k
        D[j * n + i] = sum;
        D[i * n + j] = sum * D[j * n + j];
        pivot -= sum * D[i * n + j];
      }
      const T& scale = scale_[own(cluster, i)];
      if (any_at_most(pivot, T(part * doubtful_fraction) * scale) && !is_regular(cluster.body, pivot, scale, part * singular_fraction))
        return false;
      D[i * n + i] = T(1.0) / pivot;
    }
    if (cluster.up < 0 && cluster.alone) {  // not needed
      for (int c = 0; c < n; ++c) G_[own(cluster, c)] = Six<T>::zero();
      return true;
    }
    for (int c = 0; c < n; ++c) G_[own(cluster, c)] = U_[own(cluster, c)];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) eliminate(own(cluster, i), own(cluster, j), D[i * n + j]);
    for (int i = n - 1; i >= 0; --i) {
      Six<T> row = Six<T>::zero();
      row.add(D[i * n + i], G_[own(cluster, i)]);
      G_[own(cluster, i)] = row;
      for (int j = i + 1; j < n; ++j) eliminate(own(cluster, i), own(cluster, j), D[j * n + i]);
    }
    return true;
  }
  void eliminate(int i, int j, const T& factor) { G_[i].add(-factor, G_[j]); }

  // y = D^-1 u - G A_p
  JOUNCE_INLINE void spread(const Cluster& cluster, T* x) {
    const Six<T>& up = A_[cluster.up];
    const int n = cluster.count;
    if (n == 1) {
      const int at = own(cluster, 0);
      x[at] = is_held(at) ? T(0.0) : D_[cluster.block] * u_[at] - dot(G_[at], up);
      return;
    }
    T* y = scale_;  // no longer needed
    for (int c = 0; c < n; ++c) y[c] = is_held(own(cluster, c)) ? T(0.0) : u_[own(cluster, c)];
    solve_block(cluster, y);
    for (int c = 0; c < n; ++c) x[own(cluster, c)] = is_held(own(cluster, c)) ? T(0.0) : y[c] - dot(G_[own(cluster, c)], up);
  }

  const Tree& tree_;
  BodyPlaces<T>& places_;
  Solvability equations_;
  const bool* held_ = nullptr;
  const double* armature_ = nullptr;
  Inertia* I_;
  Six<T>*S_, *U_, *G_;
  T *D_, *scale_, *u_;
  Six<T>*P_, *A_, *c_;
};

JOUNCE_END
