// Paper A's aerial manipulator (Table 3) with `branches` arms of `links` links: N = 1 + branches * links bodies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "jounce/tree.hpp"

namespace jounce {

struct Robot {
  std::vector<Body> bodies;
  std::vector<FreeJoint> free_joints;
  std::vector<std::int32_t> quaternions{3};
  std::vector<double> zero;
  Tree tree{};

  Robot(int branches, int links) {
    const double b = 0.10, c = 0.18, d = 0.06;
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    // z to y, z to x, and z: the internal frame of a joint has its axis on z
    const double turn[3][9] = {{1, 0, 0, 0, 0, 1, 0, -1, 0}, {0, 0, 1, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    Body base{Joint::free, -1, 0, 0, 6 + branches * links, 0, {}, {}, 0, 2.5, {}, {0.025, 0.025, 0.005, 0, 0, 0}};
    std::copy(identity, identity + 9, base.R);
    bodies.push_back(base);
    for (int i = 0; i < branches; ++i)
      for (int j = 0; j < links; ++j) {
        const int index = int(bodies.size());
        Body body{Joint::revolute, j == 0 ? 0 : index - 1, index + 6, index + 5, index + 5 + links - j, 0, {}, {}, 0, 0.25, {}, {}};
        const double* own = turn[j % 3];
        const double* above = j == 0 ? identity : turn[(j - 1) % 3];
        const double angle = 2 * M_PI * i / branches;
        const double p[3] = {j ? 0 : c / 2 * std::cos(angle), j ? 0 : c / 2 * std::sin(angle), j ? -2 * d : -b}, com[3] = {0, 0, -d};
        const double second[3] = {0.0005, 0.0005, 0.0015 + 0.25 * d * d};
        double h[3] = {}, J[9] = {};
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s) {
            body.p[r] += above[3 * s + r] * p[s];
            h[r] += own[3 * s + r] * 0.25 * com[s];
            for (int t = 0; t < 3; ++t)
              body.R[3 * r + s] += above[3 * t + r] * own[3 * t + s], J[3 * r + s] += own[3 * t + r] * second[t] * own[3 * t + s];
          }
        std::copy(h, h + 3, body.first);
        const double packed[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
        std::copy(packed, packed + 6, body.second);
        bodies.push_back(body);
      }
    const int n = int(bodies.size());
    zero.assign(n + 5, 0.0);
    tree = {bodies.data(),
            free_joints.data(),
            quaternions.data(),
            zero.data(),
            zero.data(),
            zero.data(),
            zero.data(),
            n,
            0,
            1,
            n + 6,
            n + 5,
            0,
            1,
            {0, 0, -9.81}};
  }
};

}  // namespace jounce
