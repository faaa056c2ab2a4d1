// The sections of one soft body along a motion, one Taylor coefficient at a time: their screws and, at order zero, their poses.
//
// strain_motion.hpp has a step by itself. From the near end on, with E = (R, x) the pose of a step's frame in the one it starts from,
//
//   S = Ad(E)^-1 S_from + S_own,     Ad(E)^-1 (v, w) = (R^T (v - x x w), R^T w),
//
// and at the offset o(q) in a step's frame (S_v + S_w x o + do/dq_c, S_w). Coordinates lie side by side here.
#pragma once

#include "jounce/ring/arena.hpp"
#include "jounce/soft/strain_motion.hpp"

JOUNCE_BEGIN

class SoftMotion {
 public:
  using T = Pack<native_width>;
  static constexpr int W = native_width;

  template <class Arena>
  SoftMotion(const SoftBody& body, int length, Arena& arena)
      : body_(&body), K_(length), np_(round_up(body.n, W)), group_count_((body.step_count + W - 1) / W) {
    q_ = arena.template take<double>(std::size_t(body.n) * length);
    groups_ = arena.template take<StrainMotion<T>>(group_count_);
    for (int g = 0; g < group_count_; ++g) {
      const StrainMotion<T> group(body.n, length, arena);
      if (groups_) groups_[g] = group;
    }
    screws_ = arena.template take<double>(body.uniform ? 0 : std::size_t(body.step_count) * 6 * length * np_);
    moved_ = arena.template take<double>(body.uniform ? 0 : std::size_t(body.step_count) * 3 * length * np_);
    poses_ = arena.template take<double>(std::size_t(body.step_count) * 12);
    offsets_ = arena.template take<double>(std::size_t(body.count) * 3 * length);
    placed_ = arena.template take<double>(body.pose ? std::size_t(body.pose->inputs + body.pose->size) : 0);
    recorded_ = arena.template take<double>(body.screws ? std::size_t(body.screws->inputs + body.screws->size) * length : 0);
  }

  double* shape(int c) const {
    return q_ + std::ptrdiff_t(c) * K_;
  }  // the series of a coordinate; its coefficient k must be set before extend(k)

  void start() {
    for (int g = 0; g < group_count_; ++g) groups_[g].set(*body_, g * W);
  }

  // Coefficients [from, to), lower ones being known. Calls pose(section, R, x) at order zero and screw(section, c, k, numbers) for all
  // sections.
  template <class Poses, class Screws>
  void extend(int from, int to, const Section* sections, const Poses& pose, const Screws& screw) {
    if (body_->screws) return extend_recorded(from, to, pose, screw);
    for (int k = from; k < to; ++k) {
      for (int g = 0; g < group_count_; ++g) {
        groups_[g].extend(k, [&](int c, int k) { return T(q_[std::ptrdiff_t(c) * K_ + k]); });
        for (int i = 0; !body_->uniform && i < W && g * W + i < body_->step_count; ++i) {
          double* S = screws_ + std::ptrdiff_t(g * W + i) * 6 * K_ * np_ + k * np_;
          for (int r = 0; r < 6; ++r)
            for (int c = 0; c < body_->n; ++c) S[std::ptrdiff_t(r) * K_ * np_ + c] = groups_[g].screw(c, r, k)[i];
        }
      }
      for (int i = 0; i < body_->step_count; ++i) {
        if (body_->from[i] >= 0) carry(i, k);
        if (k == 0) place(i);
      }
      for (int j = 0; j < body_->count; ++j) write(k, j, sections[body_->first + j], pose, screw);
    }
  }

  // Coefficient k of component r of the screws of a step, side by side; unless the body is uniform.
  double* at(int step, int r, int k) const { return screws_ + ((std::ptrdiff_t(step) * 6 + r) * K_ + k) * np_; }
  // The same for screw c, and for what the step by itself adds to it.
  JOUNCE_INLINE double screw_of(int step, int c, int r, int k) const {
    return body_->uniform ? own_screw(step, c, r, k) : at(step, r, k)[c];
  }
  double own_screw(int step, int c, int r, int k) const { return groups_[step / W].screw(c, r, k)[step % W]; }
  double rotation(int step, int i, int k) const { return groups_[step / W].rotation(i, k)[step % W]; }
  double translation(int step, int i, int k) const { return groups_[step / W].translation(i, k)[step % W]; }
  const StrainMotion<T>& steps(int first) const { return groups_[first / W]; }  // that one and those beside it
  const double* offset(int section, int r) const { return offsets_ + (std::ptrdiff_t(section) * 3 + r) * K_; }  // its series

 private:
  // S += Ad(E)^-1 S_from, one register of coordinates at a time.
  JOUNCE_NOINLINE void carry(int i, int k) {
    const int from = body_->from[i];
    const auto moved = [&](int r, int m) { return moved_ + ((std::ptrdiff_t(i) * 3 + r) * K_ + m) * np_; };  // v - x x w
    for (int c = 0; c < np_; c += W) {
      T v[3], w[3];
      for (int r = 0; r < 3; ++r) v[r] = T::load(at(from, r, k) + c);
      for (int j = 0; j <= k; ++j) {
        const T x(translation(i, 0, j)), y(translation(i, 1, j)), z(translation(i, 2, j));
        for (int r = 0; r < 3; ++r) w[r] = T::load(at(from, 3 + r, k - j) + c);
        v[0] += z * w[1] - y * w[2];
        v[1] += x * w[2] - z * w[0];
        v[2] += y * w[0] - x * w[1];
      }
      for (int r = 0; r < 3; ++r) v[r].store(moved(r, k) + c);
      for (int r = 0; r < 3; ++r) v[r] = T::load(at(i, r, k) + c), w[r] = T::load(at(i, 3 + r, k) + c);
      for (int j = 0; j <= k; ++j)
        for (int s = 0; s < 3; ++s) {
          const T a = T::load(moved(s, k - j) + c), b = T::load(at(from, 3 + s, k - j) + c);
          for (int r = 0; r < 3; ++r) {
            const T R(rotation(i, 3 * s + r, j));
            v[r] += R * a;
            w[r] += R * b;
          }
        }
      for (int r = 0; r < 3; ++r) v[r].store(at(i, r, k) + c), w[r].store(at(i, 3 + r, k) + c);
    }
  }

  // The pose of a step's frame relative to the near end, at order zero.
  void place(int i) {
    double *own = poses_ + 12 * i, R[9], x[3];
    for (int r = 0; r < 9; ++r) R[r] = rotation(i, r, 0);
    for (int r = 0; r < 3; ++r) x[r] = translation(i, r, 0);
    if (body_->from[i] < 0) {
      for (int r = 0; r < 9; ++r) own[r] = R[r];
      for (int r = 0; r < 3; ++r) own[9 + r] = x[r];
      return;
    }
    const double* from = poses_ + 12 * body_->from[i];
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) own[3 * r + c] = from[3 * r] * R[c] + from[3 * r + 1] * R[3 + c] + from[3 * r + 2] * R[6 + c];
      own[9 + r] = from[9 + r] + from[3 * r] * x[0] + from[3 * r + 1] * x[1] + from[3 * r + 2] * x[2];
    }
  }

  template <class Screws, class Number>
  static JOUNCE_INLINE void put(const Screws& screw, int j, int c, int k, const Number& number) {
    const double u[6] = {number(0), number(1), number(2), number(3), number(4), number(5)};
    screw(j, c, k, u);
  }

  template <class Poses, class Screws>
  void write(int k, int j, const Section& section, const Poses& pose, const Screws& screw) {
    const int n = body_->n, i = section.step;
    if (!section.offset) {
      if (k == 0) pose(j, poses_ + 12 * i, poses_ + 12 * i + 9);
      if (body_->uniform) {
        const StrainMotion<T>& group = groups_[i / W];
        const int own = i % W;
        for (int c = 0; c < n; ++c) put(screw, j, c, k, [&](int r) JOUNCE_LAMBDA_INLINE { return group.screw(c, r, k)[own]; });
      } else {
        for (int c = 0; c < n; ++c) put(screw, j, c, k, [&](int r) JOUNCE_LAMBDA_INLINE { return at(i, r, k)[c]; });
      }
      return;
    }
    const double* slope = section.offset + 3;
    double* o = offsets_ + std::ptrdiff_t(j) * 3 * K_;
    for (int r = 0; r < 3; ++r) {
      double sum(k == 0 ? section.offset[r] : 0.0);
      for (int c = 0; c < n; ++c) sum += double(slope[3 * c + r]) * q_[std::ptrdiff_t(c) * K_ + k];
      o[r * K_ + k] = sum;
    }
    if (k == 0) {
      const double* own = poses_ + 12 * i;
      double x[3];
      for (int r = 0; r < 3; ++r) x[r] = own[9 + r] + own[3 * r] * o[0] + own[3 * r + 1] * o[K_] + own[3 * r + 2] * o[2 * K_];
      pose(j, own, x);
    }
    for (int c = 0; c < n; ++c) {
      double v[3];
      for (int r = 0; r < 3; ++r) v[r] = screw_of(i, c, r, k) + double(k == 0 ? slope[3 * c + r] : 0.0);
      for (int m = k; m >= 0; --m) {
        const double w[3] = {screw_of(i, c, 3, k - m), screw_of(i, c, 4, k - m), screw_of(i, c, 5, k - m)};
        const double x = o[m], y = o[K_ + m], z = o[2 * K_ + m];
        v[0] += w[1] * z - w[2] * y;
        v[1] += w[2] * x - w[0] * z;
        v[2] += w[0] * y - w[1] * x;
        if (m > 0) continue;
        put(screw, j, c, k, [&](int r) JOUNCE_LAMBDA_INLINE { return r < 3 ? v[r] : w[r - 3]; });
      }
    }
  }

  // Recorded functions: position and rotation of each section at order zero, and its screws.
  template <class Poses, class Screws>
  void extend_recorded(int from, int to, const Poses& pose, const Screws& screw) {
    if (from == 0) {
      for (int c = 0; c < body_->n; ++c) placed_[c] = q_[std::ptrdiff_t(c) * K_];
      replay(*body_->pose, 0, 1, 1, placed_);
      const std::int32_t* out = body_->pose->outputs;
      for (int j = 0; j < body_->count; ++j, out += 12) {
        double R[9], x[3];
        for (int i = 0; i < 3; ++i) x[i] = placed_[out[i]];
        for (int i = 0; i < 9; ++i) R[i] = placed_[out[3 + i]];
        pose(j, R, x);
      }
    }
    for (int c = 0; c < body_->n; ++c)
      for (int k = from; k < to; ++k) recorded_[std::ptrdiff_t(c) * K_ + k] = q_[std::ptrdiff_t(c) * K_ + k];
    replay(*body_->screws, from, to, K_, recorded_);
    const std::int32_t* out = body_->screws->outputs;
    for (int j = 0; j < body_->count; ++j)
      for (int c = 0; c < body_->n; ++c, out += 6)
        for (int k = from; k < to; ++k) put(screw, j, c, k, [&](int r) { return recorded_[std::ptrdiff_t(out[r]) * K_ + k]; });
  }

  const SoftBody* body_;
  int K_, np_, group_count_;
  double* q_;
  StrainMotion<T>* groups_;
  double *screws_, *moved_, *poses_, *offsets_;
  double *placed_, *recorded_;
};

JOUNCE_END
