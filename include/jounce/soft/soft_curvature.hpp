// How the screws of a soft body's sections change with its shape, paired with constant wrenches on the sections:
//
//   Q_dc = sum over sections of dS_d/dq_c . F.
//
// First the wrenches are accumulated, from the far end on, into the wrench G on each step and everything after it, in the step's frame.
// With soft_motion.hpp's S = Ad(E)^-1 S_from + S_own, and d/dq_c Ad(E)^-1 = -ad(S_own,c) Ad(E)^-1,
//
//   Q_dc = sum over steps of  S_from,d . Ad(E)^-T (S_own,c x* G)  +  d/dq_c (S_own,d . G),     Ad(E)^-T (f, n) = (R f, R n + x x R f).
//
// The last part is strain_motion.hpp's. A section at an offset o has G = (f, n + o x f), and the additional term S_w,d . (do/dq_c x f).
// Everything is a series: Q comes with its derivatives along the motion.
#pragma once

#include "jounce/soft/sections.hpp"

JOUNCE_BEGIN

class SoftCurvature {
 public:
  static constexpr int W = native_width;
  using Lanes = Pack<W>;

  template <class Arena>
  SoftCurvature(const SoftBody& body, int rows, Arena& arena)
      : body_(&body), rows_(rows), np_(round_up(body.n, W)), group_(body.n, rows, arena) {
    G_ = arena.template take<double>(std::size_t(body.step_count) * 6 * rows);
    own_ = arena.template take<double>(6 * std::size_t(rows));
    z_ = arena.template take<double>(6 * std::size_t(rows));
    sum_ = arena.template take<double>(std::size_t(body.n) * rows * np_);
  }

  // Coefficient k of Q_dc, after run.
  double operator()(int d, int c, int k) const { return sum_[(std::ptrdiff_t(c) * rows_ + k) * np_ + d]; }

  // From a motion with as many coefficients, and F(section), which points to (6, rows) numbers.
  template <class F>
  JOUNCE_NOINLINE void run(const SoftMotion& motion, const Section* sections, const F& wrench) {
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(body_->n) * rows_ * np_; ++i) sum_[i] = 0;
    gather(motion, sections, wrench);
    for (int i = 0; i < body_->step_count; ++i)
      if (body_->from[i] >= 0)
        for (int c = 0; c < body_->n; ++c) carry(motion, i, c);
    for (int first = 0; first < body_->step_count; first += W)
      for (int c = 0; c < body_->n; ++c) bend(motion, first, c);
  }

 private:
  double* G(int step, int r) const { return G_ + (std::ptrdiff_t(step) * 6 + r) * rows_; }
  double& sum(int d, int c, int k) { return sum_[(std::ptrdiff_t(c) * rows_ + k) * np_ + d]; }

  // to += Ad(E)^-T of a wrench, coefficient k, for the E of a step.
  void add_moved(const SoftMotion& motion, int step, const double* wrench, int k, double* to) const {
    const auto turned = [&](int r, int m) {  // R f or, from r = 3 on, R n
      double y = 0;
      for (int j = 0; j <= m; ++j)
        for (int s = 0; s < 3; ++s) y += motion.rotation(step, r % 3 * 3 + s, j) * wrench[(r / 3 * 3 + s) * rows_ + m - j];
      return y;
    };
    for (int r = 0; r < 6; ++r) to[r * rows_ + k] += turned(r, k);
    for (int m = 0; m <= k; ++m) {
      const double f[3] = {turned(0, m), turned(1, m), turned(2, m)};
      for (int r = 0; r < 3; ++r) {
        const int r1 = (r + 1) % 3, r2 = (r + 2) % 3;
        to[(3 + r) * rows_ + k] += motion.translation(step, r1, k - m) * f[r2] - motion.translation(step, r2, k - m) * f[r1];
      }
    }
  }

  template <class F>
  void gather(const SoftMotion& motion, const Section* sections, const F& wrench) {
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(body_->step_count) * 6 * rows_; ++i) G_[i] = 0;
    for (int j = 0; j < body_->count; ++j) {
      const Section& section = sections[body_->first + j];
      const double* f = wrench(j);
      for (int r = 0; r < 6; ++r)
        for (int k = 0; k < rows_; ++k) G(section.step, r)[k] += f[r * rows_ + k];
      if (section.offset) add_offset(motion, j, section, f);
    }
    for (int i = body_->step_count - 1; i >= 0; --i)
      for (int k = 0; body_->from[i] >= 0 && k < rows_; ++k) add_moved(motion, i, G(i, 0), k, G(body_->from[i], 0));
  }

  void add_offset(const SoftMotion& motion, int j, const Section& section, const double* f) {
    const double* slope = section.offset + 3;
    for (int k = 0; k < rows_; ++k)
      for (int m = 0; m <= k; ++m)
        for (int r = 0; r < 3; ++r) {
          const int r1 = (r + 1) % 3, r2 = (r + 2) % 3;
          const double f1 = f[r1 * rows_ + k - m], f2 = f[r2 * rows_ + k - m];
          G(section.step, 3 + r)[k] += motion.offset(j, r1)[m] * f2 - motion.offset(j, r2)[m] * f1;
          for (int d = 0; d < body_->n; ++d) {
            const double w = motion.screw_of(section.step, d, 3 + r, m);
            for (int c = 0; c < body_->n; ++c) sum(d, c, k) += w * (slope[3 * c + r1] * f2 - slope[3 * c + r2] * f1);
          }
        }
  }

  // S_from,d . Ad(E)^-T (S_own,c x* G), for all d.
  JOUNCE_NOINLINE void carry(const SoftMotion& motion, int i, int c) {
    for (int k = 0; k < rows_; ++k) {
      double y[6] = {};
      for (int j = 0; j <= k; ++j) {
        double S[6];
        for (int r = 0; r < 6; ++r) S[r] = motion.own_screw(i, c, r, j);
        for (int r = 0; r < 3; ++r) {
          const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, m = k - j;
          y[r] += S[3 + r1] * G(i, r2)[m] - S[3 + r2] * G(i, r1)[m];
          y[3 + r] += S[3 + r1] * G(i, 3 + r2)[m] - S[3 + r2] * G(i, 3 + r1)[m] + S[r1] * G(i, r2)[m] - S[r2] * G(i, r1)[m];
        }
      }
      for (int r = 0; r < 6; ++r) own_[r * rows_ + k] = y[r], z_[r * rows_ + k] = 0;
      add_moved(motion, i, own_, k, z_);
    }
    for (int k = 0; k < rows_; ++k)
      for (int d = 0; d < np_; d += W) {
        double* to = &sum(d, c, k);
        Lanes total = Lanes::load(to);
        for (int j = 0; j <= k; ++j)
          for (int r = 0; r < 6; ++r) total += Lanes(z_[r * rows_ + k - j]) * Lanes::load(motion.at(body_->from[i], r, j) + d);
        total.store(to);
      }
  }

  // d/dq_c (S_own,d . G) of the steps from `first` on, for all d.
  void bend(const SoftMotion& motion, int first, int c) {
    group_.set(*body_, first);
    for (int k = 0; k < rows_; ++k) {
      for (int r = 0; r < 6; ++r) {
        double g[W];
        for (int i = 0; i < W; ++i) g[i] = first + i < body_->step_count ? G(first + i, r)[k] : 0.0;
        group_.wrench(r, k) = {Lanes::load(g), Lanes(0.0)};
      }
      group_.extend(k, motion.steps(first), c);
      for (int d = 0; d < body_->n; ++d) sum(d, c, k) += group_.pairing(d);
    }
  }

  const SoftBody* body_;
  int rows_, np_;
  StrainMotion<Dual<Lanes>> group_;
  double *G_, *own_, *z_, *sum_;
};

// The same for all soft bodies of a robot.
class SectionCurvature {
 public:
  template <class Arena>
  SectionCurvature(const Tree& tree, int rows, Arena& arena) : rows_(rows) {
    if (!tree.soft) return;
    wrench_ = arena.template take<double>(std::size_t(tree.section_count) * 6 * rows);
    curvature_ = arena.template take<SoftCurvature>(tree.soft->count);
    for (int i = 0; i < tree.soft->count; ++i) {
      const SoftCurvature curvature(tree.soft->bodies[i], rows, arena);
      if (curvature_) curvature_[i] = curvature;
    }
    values_ = arena.template take<double>(std::size_t(tree.soft->recorded_values) * rows);
  }

  // (6, rows) coefficients of F, in the section's axes
  double* wrench(int section) { return wrench_ + std::ptrdiff_t(section) * 6 * rows_; }

  // Adds derivatives 0 .. rows - 1 to K (rows, columns, columns).
  JOUNCE_NOINLINE void add(const Tree& tree, const SectionTables<double>& sections, double* K) {
    const std::ptrdiff_t columns = tree.columns, size = columns * columns;
    for (int i = 0; i < tree.soft->count; ++i) {
      const SoftBody& b = tree.soft->bodies[i];
      const auto add = [&](int d, int c, int k, double x) { K[k * size + (b.v + d) * columns + b.v + c] += factorial.value[k] * x; };
      if (b.screws) {
        add_recorded(b, sections.motion(i), add);
        continue;
      }
      curvature_[i].run(sections.motion(i), tree.soft->sections, [&](int j) { return wrench(b.first + j); });
      for (int k = 0; k < rows_; ++k)
        for (int d = 0; d < b.n; ++d)
          for (int c = 0; c < b.n; ++c) add(d, c, k, curvature_[i](d, c, k));
    }
  }

 private:
  template <class Add>
  void add_recorded(const SoftBody& b, const SoftMotion& motion, const Add& add) {
    for (int c = 0; c < b.n; ++c)
      for (int k = 0; k < rows_; ++k) values_[std::ptrdiff_t(c) * rows_ + k] = motion.shape(c)[k];
    replay(*b.curvature, 0, rows_, rows_, values_);
    const std::int32_t* out = b.curvature->outputs;
    for (int j = 0; j < b.count; ++j)
      for (int c = 0; c < b.n; ++c)
        for (int d = 0; d < b.n; ++d)
          for (int r = 0; r < 6; ++r, ++out) {
            const double *x = values_ + std::ptrdiff_t(*out) * rows_, *F = wrench(b.first + j) + r * rows_;
            for (int k = 0; k < rows_; ++k)
              for (int m = 0; m <= k; ++m) add(d, c, k, x[m] * F[k - m]);
          }
  }

  int rows_;
  double *wrench_ = nullptr, *values_ = nullptr;
  SoftCurvature* curvature_ = nullptr;
};

JOUNCE_END
