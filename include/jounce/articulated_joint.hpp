// A joint and the articulated inertia that it carries, in world axes about a fixed point (see world_frame.hpp), at order zero.
//
//   U = I S,   D = S^T U + armature,   G = D^-1 U^T,   I_parent += I - U G.
//
// In common axes a child's inertia is simply added to its parent's; six-vectors lie in registers of eight.
#pragma once

#include "jounce/world_frame.hpp"

JOUNCE_BEGIN

struct ArticulatedJoint {
  static constexpr int W = native_width;

  alignas(64) double I[6][8];  // articulated inertia, rows padded
  double S[6][8], U[6][8];     // by columns
  double G[6][8];              // D^-1 U^T, by rows
  double inverse[6][6];        // D^-1
  int dof;

  template <class S>
  void rigid(const Moments<S>& m) {
    const double h[3] = {leading(m.first.x), leading(m.first.y), leading(m.first.z)}, M = m.mass;
    const double xx = leading(m.xx), yy = leading(m.yy), zz = leading(m.zz);
    const double xy = leading(m.xy), xz = leading(m.xz), yz = leading(m.yz);
    const double rows[6][6] = {{M, 0, 0, 0, h[2], -h[1]},           {0, M, 0, -h[2], 0, h[0]},
                               {0, 0, M, h[1], -h[0], 0},           {0, -h[2], h[1], yy + zz, -xy, -xz},
                               {h[2], 0, -h[0], -xy, xx + zz, -yz}, {-h[1], h[0], 0, -xz, -yz, xx + yy}};
    unroll<6>([&](auto r) JOUNCE_LAMBDA_INLINE {  // number by number: no wide load has to wait for these
      unroll<6>([&](auto c) JOUNCE_LAMBDA_INLINE { I[r][c] = rows[r][c]; });
      I[r][6] = I[r][7] = 0;
    });
  }

  template <class World>
  void move(const World& world, const Body& b) {
    dof = freedom(b.joint);
    for (int c = 0; c < dof; ++c) {
      const auto& s = world.screw(b.v + c);
      S[c][0] = leading(s.v.x), S[c][1] = leading(s.v.y), S[c][2] = leading(s.v.z);
      S[c][3] = leading(s.w.x), S[c][4] = leading(s.w.y), S[c][5] = leading(s.w.z);
      S[c][6] = S[c][7] = 0;
    }
  }

  // U = I S and D = S^T U
  void project(double (&D)[6][6]) {
    for (int c = 0; c < dof; ++c) {
      for (int l = 0; l < 8; l += W) {
        Pack<W> sum(0.0);
        for (int r = 0; r < 6; ++r) sum += Pack<W>(S[c][r]) * Pack<W>::load(&I[r][l]);
        sum.store(&U[c][l]);
      }
      for (int d = 0; d <= c; ++d) {
        double sum = 0;
        for (int r = 0; r < 6; ++r) sum += S[d][r] * U[c][r];
        D[c][d] = D[d][c] = sum;
      }
    }
  }

  // D^-1, by elimination, and G. False where D has no inverse: where a pivot is rounding error beside what it is made of.
  bool invert(double (&D)[6][6]) {
    double least[6];
    for (int c = 0; c < dof; ++c) {
      double scale = 0;
      for (int r = 0; r < 6; ++r) scale += S[c][r] * S[c][r] * I[r][r];
      least[c] = 1e-12 * scale;
    }
    if (dof == 1) {
      if (!(D[0][0] > least[0])) return false;
      inverse[0][0] = 1 / D[0][0];
    } else {
      for (int r = 0; r < dof; ++r)
        for (int c = 0; c < dof; ++c) inverse[r][c] = r == c;
      for (int p = 0; p < dof; ++p) {
        if (!(D[p][p] > least[p])) return false;
        const double pivot = 1 / D[p][p];
        for (int c = 0; c < dof; ++c) D[p][c] *= pivot, inverse[p][c] *= pivot;
        for (int r = 0; r < dof; ++r) {
          const double factor = D[r][p];
          if (r != p)
            for (int c = 0; c < dof; ++c) D[r][c] -= factor * D[p][c], inverse[r][c] -= factor * inverse[p][c];
        }
      }
    }
    for (int c = 0; c < dof; ++c)
      for (int l = 0; l < 8; l += W) {
        Pack<W> sum(0.0);
        for (int d = 0; d < dof; ++d) sum += Pack<W>(inverse[c][d]) * Pack<W>::load(&U[d][l]);
        sum.store(&G[c][l]);
      }
    return true;
  }

  // I += I_child - U D^-1 U^T
  void add_articulated(const ArticulatedJoint& child) {
    for (int r = 0; r < 6; ++r)
      for (int l = 0; l < 8; l += W) {
        Pack<W> sum = Pack<W>::load(&I[r][l]) + Pack<W>::load(&child.I[r][l]);
        for (int c = 0; c < child.dof; ++c) sum -= Pack<W>(child.U[c][r]) * Pack<W>::load(&child.G[c][l]);
        sum.store(&I[r][l]);
      }
  }
};

JOUNCE_END
