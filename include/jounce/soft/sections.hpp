// What algorithms need of the sections of soft bodies: poses and screws.
//
// A section has a screw for each coordinate of its body's shape: a series for each component, its coefficients side by side. A single
// state also has the six components of each coefficient together.
#pragma once

#include "jounce/ring/ring.hpp"
#include "jounce/soft/soft_motion.hpp"
#include "jounce/spatial/six.hpp"
#include "jounce/spatial/spatial.hpp"

JOUNCE_BEGIN

template <class T>
class SectionTables {
 public:
  static constexpr int width = states((const T*)nullptr);

  T* pose;  // (sections, 12) relative to the near end, at order zero: rotation by rows, position

  // `grows`: whether coefficients are requested one at a time; each state then needs memory of its own.
  template <class Arena>
  static SectionTables allocate(const Tree& tree, int length, bool grows, Arena& arena) {
    SectionTables y{};
    y.first_ = tree.columns;
    if (!tree.soft) return y;
    y.length_ = length;
    y.pose = arena.template take<T>(12 * std::size_t(tree.section_count));
    const std::size_t numbers = std::size_t(tree.screws - tree.columns) * 6 * length;
    y.screw_ = arena.template take<T>(numbers);
    y.six_ = arena.template take<Six<T>>(width == 1 ? numbers / 6 : 0);
    y.twist_ = arena.template take<Six<T>>(std::size_t(tree.section_count) * length);
    y.machines_ = grows ? width : 1;
    y.motion_ = arena.template take<SoftMotion>(std::size_t(tree.soft->count) * y.machines_);
    for (int i = 0; i < tree.soft->count; ++i)
      for (int s = 0; s < y.machines_; ++s) {
        const SoftMotion motion(tree.soft->bodies[i], length, arena);
        if (y.motion_) y.motion_[i * y.machines_ + s] = motion;
      }
    for (std::size_t i = 0; y.screw_ && i < numbers; ++i) y.screw_[i] = T(0.0);
    for (std::size_t i = 0; width == 1 && y.six_ && i < numbers / 6; ++i) y.six_[i] = Six<T>::zero();
    return y;
  }

  // Component i of a screw, from Body::screw on.
  JOUNCE_INLINE FactorView<T> factor(int index, int i) const { return {series(index, i), 1}; }
  JOUNCE_INLINE Six<T> coefficient(int index, int k) const {
    if constexpr (width == 1) return six_[std::ptrdiff_t(index - first_) * length_ + k];
    const T* u = series(index, 0) + k;
    return Six<T>::of(Triple<T>::of(u[0], u[length_], u[2 * length_]), Triple<T>::of(u[3 * length_], u[4 * length_], u[5 * length_]));
  }
  template <class S>
  JOUNCE_INLINE Screw<S> screw_of(int index) const {
    const auto load = [&](int i) { return S::load(series(index, i)); };
    return {{load(0), load(1), load(2)}, {load(3), load(4), load(5)}};
  }

  // All coefficients up to K, of screws and of the sections' slots.
  JOUNCE_NOINLINE void fill(const Tree& tree, int K, const T* q, T* rate, int stride) {
    extend_screws(tree, 0, K, q, rate, stride);
    for (int k = 0; k < K; ++k) set_slots(tree, k, rate, stride);
  }

  // Coefficient k of the screws, from rates up to k - 1, unless already known, and of the slots, from rates up to k.
  void extend(const Tree& tree, int k, const T* q, T* rate, int stride, bool screws) {
    if (screws) extend_screws(tree, k, k + 1, q, rate, stride);
    set_slots(tree, k, rate, stride);
  }

  // Screws up to `count` coefficients, of which all but the last two are known, and the sections' twists relative to their near ends up
  // to one fewer.
  void extend_to(const Tree& tree, int count, const T* q, const T* rate, int stride) {
    extend_screws(tree, done_ < count - 1 ? done_ : count - 1, count, q, rate, stride);
    for (int i = 0; i < tree.size; ++i) {
      const Body& b = tree.bodies[i];
      for (int k = 0; b.joint == Joint::section && k + 1 < count; ++k) twist_[b.q * length_ + k] = twist(b, k, rate, stride);
    }
  }

  // `rows` coefficients of derivative m of a screw or, after extend_to, of the twist of a section.
  template <class S>
  JOUNCE_INLINE Screw<S> screw_derivative(int index, int m, int rows) const {
    return derivative<S>(six_ + std::ptrdiff_t(index - first_) * length_, m, rows);
  }
  template <class S>
  JOUNCE_INLINE Screw<S> twist_derivative(const Body& b, int m, int rows) const {
    return derivative<S>(twist_ + b.q * length_, m, rows);
  }
  const SoftMotion& motion(int body) const { return motion_[body * machines_]; }  // of the first state
  const T* series(int index, int i) const { return screw_ + (std::ptrdiff_t(index - first_) * 6 + i) * length_; }

 private:
  template <class S>
  static JOUNCE_INLINE Screw<S> derivative(const Six<T>* u, int m, int rows) {
    T x[6][padded_length<S>] = {};
    for (int k = 0; k < rows; ++k) {
      const double scale = factorial.value[k + m] * factorial.inverse[k];
      for (int r = 0; r < 6; ++r) x[r][k] = T(scale) * u[k + m][r];
    }
    return {{S::load(x[0]), S::load(x[1]), S::load(x[2])}, {S::load(x[3]), S::load(x[4]), S::load(x[5])}};
  }

  JOUNCE_NOINLINE void set_slots(const Tree& tree, int k, T* rate, int stride) const {
    for (int i = 0; i < tree.size; ++i) {
      const Body& b = tree.bodies[i];
      if (b.joint != Joint::section) continue;
      const Six<T> y = twist(b, k, rate, stride);
      for (int r = 0; r < 6; ++r) rate[k * stride + b.v + r] = y[r];
    }
  }

  // Coefficients [from, to), from rates up to to - 2.
  JOUNCE_NOINLINE void extend_screws(const Tree& tree, int from, int to, const T* q, const T* rate, int stride) {
    done_ = to;
    for (int i = 0; i < tree.soft->count; ++i) {
      const SoftBody& body = tree.soft->bodies[i];
      T* first = screw_ + std::ptrdiff_t(body.screw) * 6 * length_;
      Six<T>* six = six_ + std::ptrdiff_t(body.screw) * length_;
      for (int s = 0; s < width; ++s) {
        SoftMotion& motion = motion_[i * machines_ + s % machines_];
        if (from == 0) motion.start();
        for (int k = from; k < to; ++k)
          for (int c = 0; c < body.n; ++c)
            motion.shape(c)[k] = k == 0 ? state(q[body.q + c], s) : state(rate[(k - 1) * stride + body.v + c], s) / k;
        motion.extend(
            from, to, tree.soft->sections,
            [&](int j, const double* R, const double* x) {
              T* place = pose + 12 * (body.first + j);
              for (int r = 0; r < 9; ++r) state(place[r], s) = R[r];
              for (int r = 0; r < 3; ++r) state(place[9 + r], s) = x[r];
            },
            [&](int j, int c, int k, const double (&u)[6]) JOUNCE_LAMBDA_INLINE {
              const std::ptrdiff_t at = j * body.n + c;
              for (int r = 0; r < 6; ++r) state(first[(at * 6 + r) * length_ + k], s) = u[r];
              if constexpr (width == 1)
                six[at * length_ + k] = Six<T>::of(Triple<T>::of(u[0], u[1], u[2]), Triple<T>::of(u[3], u[4], u[5]));
            });
      }
    }
  }

  JOUNCE_INLINE Six<T> twist(const Body& b, int k, const T* rate, int stride) const {
    Six<T> sum = Six<T>::zero();
    for (int c = 0; c < b.count; ++c)
      for (int j = 0; j <= k; ++j) sum.add(rate[(k - j) * stride + b.column + c], coefficient(b.screw + c, j));
    return sum;
  }

  int first_, length_, done_, machines_;
  T* screw_;
  Six<T>*six_, *twist_;
  SoftMotion* motion_;
};

JOUNCE_END
