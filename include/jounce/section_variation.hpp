// How the screws of a soft body's sections change with its shape: what partial derivatives need (inverse_dynamics_derivatives.hpp).
#pragma once

#include "jounce/sections.hpp"

JOUNCE_BEGIN

// Of one section, along a motion: its twist W in the near end, and for coordinate c X = dS/dq_c v = S_c' + W x S_c. After
// SectionTables::extend_to(rows + 2).
template <class S>
class SectionVariation {
 public:
  SectionVariation(const SectionTables<double>& sections, const Body& b, int rows) : sections_(sections), b_(b), rows_(rows) {}

  Screw<S> twist() const {
    return load([&](int r, int k) { return sections_.twist_series(b_, r)[k]; });
  }
  Screw<S> acceleration() const {
    return load([&](int r, int k) { return (k + 1) * sections_.twist_series(b_, r)[k + 1]; });
  }

  void by(int c) { c_ = c; }
  Screw<S> X() const {
    return load([&](int r, int k) { return X_of(r, k); });
  }
  Screw<S> dX() const {
    return load([&](int r, int k) { return (k + 1) * X_of(r, k + 1); });
  }
  Screw<S> dS() const {
    return load([&](int r, int k) { return (k + 1) * screw(r)[k + 1]; });
  }

 private:
  const double* screw(int r) const { return sections_.series(b_.screw + c_, r); }
  double X_of(int r, int k) const {
    const int i = r % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    const auto W = [&](int r) { return sections_.twist_series(b_, r); };
    double sum = (k + 1) * screw(r)[k + 1];
    for (int j = 0; j <= k; ++j) {
      const int m = k - j;
      if (r >= 3) {
        sum += W(3 + i1)[j] * screw(3 + i2)[m] - W(3 + i2)[j] * screw(3 + i1)[m];
      } else {
        sum += W(3 + i1)[j] * screw(i2)[m] - W(3 + i2)[j] * screw(i1)[m];
        sum += W(i1)[j] * screw(3 + i2)[m] - W(i2)[j] * screw(3 + i1)[m];
      }
    }
    return sum;
  }
  template <class F>
  Screw<S> load(const F& f) const {
    double x[6][padded_length<S>] = {};
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < rows_; ++k) x[r][k] = f(r, k);
    return {{S::load(x[0]), S::load(x[1]), S::load(x[2])}, {S::load(x[3]), S::load(x[4]), S::load(x[5])}};
  }

  const SectionTables<double>& sections_;
  const Body& b_;
  int rows_, c_ = 0;
};

// dS_d/dq_c . F, summed over the sections of each soft body.
class SectionCurvature {
 public:
  template <class Arena>
  SectionCurvature(const Tree& tree, int rows, Arena& arena) : rows_(rows) {
    if (!tree.soft) return;
    wrench_ = arena.template take<double>(std::size_t(tree.section_count) * 6 * rows);
    motion_ = arena.template take<SoftMotion<Dual<double>>>(tree.soft->count);
    for (int i = 0; i < tree.soft->count; ++i) {
      const SoftMotion<Dual<double>> motion(tree.soft->bodies[i], rows, arena);
      if (motion_) motion_[i] = motion;
    }
    values_ = arena.template take<double>(std::size_t(tree.soft->recorded_values) * rows);
    sum_ = arena.template take<double>(std::size_t(tree.soft->widest) * rows);
  }

  double* wrench(int section) {
    return wrench_ + std::ptrdiff_t(section) * 6 * rows_;
  }  // (6, rows) coefficients of F, in the section's axes

  // Adds derivatives 0 .. rows - 1 to K (rows, columns, columns).
  JOUNCE_NOINLINE void add(const Tree& tree, const double* q, const double* rate, int stride, double* K) {
    const std::ptrdiff_t columns = tree.columns, size = columns * columns;
    for (int i = 0; i < tree.soft->count; ++i) {
      const SoftBody& b = tree.soft->bodies[i];
      const auto at = [&](int c, int k) { return k == 0 ? q[b.q + c] : rate[(k - 1) * stride + b.v + c] / k; };
      // Coefficient k of the derivative by one coordinate of component r of screw d of section j.
      const auto add = [&](int j, int d, int r, int k, double x) JOUNCE_LAMBDA_INLINE {
        const double* F = wrench(b.first + j) + r * rows_;
        for (int m = k; m < rows_; ++m) sum_[d * rows_ + m] += x * F[m - k];
      };
      const auto clear = [&] {
        for (int d = 0; d < b.n * rows_; ++d) sum_[d] = 0;
      };
      const auto write = [&](int c) {
        for (int d = 0; d < b.n; ++d)
          for (int m = 0; m < rows_; ++m) K[m * size + (b.v + d) * columns + b.v + c] += factorial.value[m] * sum_[d * rows_ + m];
      };
      if (b.motion) {
        for (int k = 0; k < rows_; ++k)
          for (int c = 0; c < b.n; ++c) values_[std::ptrdiff_t(c) * rows_ + k] = at(c, k);
        replay(*b.curvature, 0, rows_, rows_, values_);
        for (int c = 0; c < b.n; ++c) {
          clear();
          for (int j = 0; j < b.count; ++j)
            for (int d = 0; d < b.n; ++d)
              for (int r = 0; r < 6; ++r)
                for (int k = 0; k < rows_; ++k)
                  add(j, d, r, k, values_[std::ptrdiff_t(b.curvature->outputs[((j * b.n + c) * b.n + d) * 6 + r]) * rows_ + k]);
          write(c);
        }
        continue;
      }
      for (int c = 0; c < b.n; ++c) {
        motion_[i].start();
        clear();
        for (int k = 0; k < rows_; ++k)
          for (int d = 0; d < b.n; ++d) motion_[i].shape(d)[k] = {at(d, k), c == d && k == 0 ? 1.0 : 0.0};
        motion_[i].extend(
            0, rows_, tree.soft->sections, [](int, const Dual<double>*, const Dual<double>*) {},
            [&](int j, int d, int k, const Dual<double>(&u)[6]) JOUNCE_LAMBDA_INLINE {
              for (int r = 0; r < 6; ++r) add(j, d, r, k, u[r].d);
            });
        write(c);
      }
    }
  }

 private:
  int rows_;
  double *wrench_ = nullptr, *values_ = nullptr, *sum_ = nullptr;
  SoftMotion<Dual<double>>* motion_ = nullptr;
};

JOUNCE_END
