// Paper A's aerial manipulator (Table 3) with `branches` arms of `links` links: N = 1 + branches * links bodies, one
// generation after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "jounce/tree/tree.hpp"

namespace jounce {

struct Robot {
  std::vector<Body> bodies;
  std::vector<FreeJoint> free_joints;
  std::vector<std::int32_t> quaternions{3}, columns;
  std::vector<Range> ranges;
  std::vector<Cluster> clusters;
  std::vector<double> zero, turns;
  Tree tree{};

  Robot(int branches, int links) {
    const double b = 0.10, c = 0.18, d = 0.06;
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    // z to y, z to x, and z: the internal frame of a joint has its axis on z
    const double turn[3][9] = {{1, 0, 0, 0, 0, 1, 0, -1, 0}, {0, 0, 1, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    Body base{};
    base.joint = Joint::free;
    base.parent = -1;
    base.count = 6;
    base.mass = 2.5;
    base.second[0] = base.second[1] = 0.025, base.second[2] = 0.005;
    base.leaf = branches * links == 0;
    std::copy(identity, identity + 9, base.R);
    add(base, 6 + branches * links);
    for (int j = 0; j < links; ++j)
      for (int i = 0; i < branches; ++i) {
        const int index = int(bodies.size());
        Body body{};
        body.joint = Joint::revolute;
        body.parent = j == 0 ? 0 : index - branches;
        const int column = 6 + i * links + j;
        body.q = column + 1, body.v = body.column = body.screw = column;
        body.count = 1;
        body.mass = 0.25;
        body.leaf = j == links - 1;
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
        add(body, column + links - j);
      }
    const int n = int(bodies.size());
    zero.assign(n + 5, 0.0);
    turns.assign(n + 13, 1.0);
    tree.turns = turns.data();
    tree.bodies = bodies.data(), tree.quaternions = quaternions.data(), tree.ranges = ranges.data();
    tree.clusters = clusters.data(), tree.cluster_columns = columns.data();
    tree.armature = tree.damping = tree.stiffness = tree.rest = zero.data();
    tree.size = tree.cluster_count = n;
    tree.quaternion_count = 1;
    tree.nq = tree.positions = n + 6;
    tree.nv = tree.columns = tree.slots = tree.screws = n + 5;
    tree.widest = 6;
    tree.general = true;
    tree.gravity[2] = -9.81;
  }

 private:
  // A body that carries the columns from its own to `end`.
  void add(Body b, int end) {
    b.ratio = 1;
    b.span = std::int32_t(ranges.size()), b.span_end = b.span + 1;
    b.cluster = std::int32_t(clusters.size()), b.block = tree.blocks, b.single = b.count == 1;
    ranges.push_back({b.column, end});
    clusters.push_back({std::int32_t(bodies.size()), b.parent, std::int32_t(columns.size()), b.count, tree.blocks, true, false});
    for (int c = 0; c < b.count; ++c) columns.push_back(b.column + c);
    tree.blocks += b.count * b.count;
    bodies.push_back(b);
  }
};

}  // namespace jounce
