// What the calls on a coordinate map share: their arguments, and forces of the carrier in own coordinates.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "coordinate_map.hpp"
#include "jounce/ring.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {

// Calls with(station, body) for all stations.
template <class With>
void for_each_station(const CoordinateMap& map, const With& with) {
  for (int j = 0; j < map.body_count; ++j)
    for (int k = map.bodies[j].steps; k < map.bodies[j].end; ++k)
      for (int i = map.steps[k].stations; i < map.steps[k].end; ++i) with(map.stations[i], map.bodies[j]);
}

// Microseconds that the map takes for a state, roughly.
inline double station_cost(const CoordinateMap& map, int rows) { return 1 + 2e-3 * map.columns * (1 + rows); }

// q and a velocity: none, a row, rows v and a, or a stack.
struct MapArguments {
  Input q, v, a;
  bool stacked = false, has_v = false, has_a = false;

  MapArguments(const CoreModel& own, nb::handle q_, nb::handle v_, nb::handle a_, bool stack)
      : q(q_, "q", 1), stacked(stack), has_v(!v_.is_none()), has_a(!a_.is_none()) {
    if (stacked && !has_v) fail("v must be an array of real numbers, got None");
    if (has_v) v = Input(v_, "v", stacked ? 2 : 1);
    if (has_a) a = Input(a_, "a", 1);
    expect_configuration(own.tree(), q);
    if (has_v && stacked) expect_stack(own.tree(), v, 1, highest_order + 2, "v, dv/dt, ...");
    if (has_v && !stacked) expect_velocity(own.tree(), v);
    if (has_a) expect_velocity(own.tree(), a);
  }

  int rows() const { return !has_v ? 0 : stacked ? int(v.size(-2)) : has_a ? 2 : 1; }

  Shape batch() const {
    Inputs inputs{&q};
    if (has_v) inputs.push_back(&v);
    if (has_a) inputs.push_back(&a);
    return broadcast_shape(inputs);
  }

  States states(const Shape& batch, int nv) {
    States s{};
    s.q_step = q.broadcast(batch), s.q = q.data();
    if (has_v) s.v_step = s.rest_step = v.broadcast(batch), s.v = v.data(), s.rest = v.data() + nv;
    if (has_a) s.rest_step = a.broadcast(batch), s.rest = a.data();
    s.rows = rows();
    return s;
  }
};

inline Shape with(Shape shape, std::initializer_list<npy_intp> more) {
  shape.append(more);
  return shape;
}

constexpr double binomial(int n, int k) { return factorial.value[n] * factorial.inverse[k] * factorial.inverse[n - k]; }

// G^T f for a stack of forces of the carrier, by Leibniz' rule.
inline void reduce(const CoordinateMap& map, const double* columns, const double* forces, int rows, double* tau) {
  std::fill_n(tau, std::ptrdiff_t(rows) * map.nv, 0.0);
  for (int k = 0; k < rows; ++k, tau += map.nv) {
    const double* force = forces + std::ptrdiff_t(k) * map.full_nv;
    for (int j = 0; j < map.velocity_count; ++j) tau[map.velocities[j].from] += map.velocities[j].ratio * force[map.velocities[j].to];
    for (int m = 0; m <= k; ++m) {
      const double *J = columns + std::ptrdiff_t(k - m) * map.columns, scale = binomial(k, m);
      const double* lower = forces + std::ptrdiff_t(m) * map.full_nv;
      for_each_station(map, [&](const Station& station, const SoftBody& body) {
        const double *column = J + station.column, *w = lower + station.v;
        for (int c = 0; c < body.n; ++c, column += 6)
          tau[body.v + c] +=
              scale * (column[0] * w[0] + column[1] * w[1] + column[2] * w[2] + column[3] * w[3] + column[4] * w[4] + column[5] * w[5]);
      });
    }
  }
}

}  // namespace jounce
