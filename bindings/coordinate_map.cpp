#include "coordinate_map.hpp"

#include <algorithm>

#include "bind.hpp"
#include "jounce/ring.hpp"
#include "map_states.hpp"
#include "recorded.hpp"

namespace jounce {

namespace {

using Integers = std::vector<std::int32_t>;

void expect(bool condition, const char* what) {
  if (!condition) fail(std::string("coordinate map: ") + what);
}

bool within(std::int64_t at, std::int64_t count, std::int64_t size) { return at >= 0 && count >= 0 && at + count <= size; }

// A table of integers, `width` in a row.
Integers table(const nb::dict& from, const char* key, int width) {
  Integers rows = nb::cast<Integers>(from[key]);
  expect(rows.size() % width == 0, key);
  return rows;
}

std::vector<Copy> copies(const nb::dict& from, const char* key, const char* ratio_key, const char* offset_key, int size, int full_size) {
  const Integers rows = table(from, key, 2);
  const std::size_t count = rows.size() / 2;
  const Input ratio(from[ratio_key], ratio_key, 0), offset(from[offset_key], offset_key, 0);
  expect(std::size_t(ratio.total()) == count && std::size_t(offset.total()) == count, key);
  std::vector<Copy> result;
  for (std::size_t i = 0; i < count; ++i) {
    expect(within(rows[2 * i], 1, full_size) && within(rows[2 * i + 1], 1, size), key);
    result.push_back({rows[2 * i], rows[2 * i + 1], ratio.data()[i], offset.data()[i]});
  }
  return result;
}

}  // namespace

CoordinateMapOwner::CoordinateMapOwner(const CoreModel& own, const CoreModel& carrier, nb::dict t) : own_(own) {
  const Tree &small = own.tree(), &full = carrier.tree();
  positions_ = copies(t, "positions", "position_ratio", "position_offset", small.nq, full.nq);
  velocities_ = copies(t, "velocities", "velocity_ratio", "velocity_offset", small.nv, full.nv);
  const Input numbers(t["numbers"], "numbers", 0);
  numbers.expect_finite();
  numbers_.assign(numbers.data(), numbers.data() + numbers.total());
  const std::int64_t size = std::int64_t(numbers_.size());

  std::int64_t recorded_values = 0;
  for (nb::handle item : nb::cast<nb::list>(t["recordings"])) {
    recorded_.push_back(nb::borrow(item));
    recordings_.push_back(nb::cast<const Recorded&>(item).recording());
    recorded_values = std::max<std::int64_t>(recorded_values, recordings_.back().inputs + std::int64_t(recordings_.back().size));
  }
  const Integers bodies = table(t, "bodies", 7), steps = table(t, "steps", 5), stations = table(t, "stations", 3);
  const std::int64_t step_count = std::int64_t(steps.size() / 5), station_count = std::int64_t(stations.size() / 3);
  std::int64_t columns = 0, seconds = 0, widest = 0, longest = 0;
  for (std::size_t i = 0; i < bodies.size(); i += 7) {
    const SoftBody b{bodies[i], bodies[i + 1], bodies[i + 2], bodies[i + 3], bodies[i + 4], bodies[i + 5], bodies[i + 6]};
    expect(b.n > 0 && within(b.q, b.n, small.nq) && within(b.v, b.n, small.nv), "a body's coordinates");
    expect(b.end >= b.steps && within(b.steps, b.end - b.steps, step_count), "a body's steps");
    expect(b.steps == std::int64_t(steps_.size()), "steps must follow each other");
    expect(within(b.stiffness, 2 * std::int64_t(b.n) * b.n, size), "a body's stiffness");
    bodies_.push_back(b);
    widest = std::max<std::int64_t>(widest, b.n), longest = std::max<std::int64_t>(longest, b.end - b.steps);
    for (std::int64_t k = b.steps; k < b.end; ++k) {
      const std::int32_t* row = &steps[5 * k];
      const StrainStep s{row[0], row[1], row[2], row[3], row[4]};
      expect(s.from == -1 || (s.from >= b.steps && s.from < k), "a step must start from one before it");
      expect(!s.uniform || s.from == -1, "a uniform step starts at the near end");
      expect(s.end >= s.stations && within(s.stations, s.end - s.stations, station_count), "a step's stations");
      expect(s.stations == std::int64_t(stations_.size()), "stations must follow each other");
      expect(within(s.linear, 6 + 6 * std::int64_t(b.n) * (s.uniform ? 1 : 3), size), "a step's numbers");
      steps_.push_back(s);
      for (std::int64_t j = s.stations; j < s.end; ++j) {
        const std::int32_t* at = &stations[3 * j];
        expect(within(at[0], 7, full.nq) && within(at[1], 6, full.nv), "a station's coordinates");
        expect(at[2] == -1 || within(at[2], 3 + 3 * std::int64_t(b.n), size), "a station's numbers");
        expect(columns < (1 << 28) && seconds < (1 << 28), "too many stations");
        stations_.push_back({at[0], at[1], std::int32_t(columns), std::int32_t(seconds), at[2]});
        columns += 6 * b.n, seconds += 6 * std::int64_t(b.n) * b.n;
      }
    }
    if (b.recorded >= 0) {
      expect(b.end == b.steps + 1 && within(b.recorded, 2, std::int64_t(recordings_.size())), "a body's recordings");
      const std::int64_t own = steps_.back().end - steps_.back().stations;
      const Recording *first = &recordings_[b.recorded], *second = first + 1;
      expect(first->inputs == b.n && second->inputs == b.n, "a recording's inputs");
      expect(first->output_count == own * (12 + 6 * b.n) && second->output_count == own * 6 * b.n * b.n, "a recording's outputs");
    }
  }
  group(full);
  map_ = {small.nq,
          small.nv,
          full.nq,
          full.nv,
          std::int32_t(columns),
          std::int32_t(seconds),
          std::int32_t(widest),
          std::int32_t(longest),
          positions_.data(),
          velocities_.data(),
          std::int32_t(positions_.size()),
          std::int32_t(velocities_.size()),
          bodies_.data(),
          steps_.data(),
          stations_.data(),
          numbers_.data(),
          std::int32_t(bodies_.size()),
          entries_.data(),
          carried_.data(),
          groups_.data(),
          std::int32_t(entries_.size()),
          std::int32_t(groups_.size()),
          std::int32_t(widest_group_),
          tree_like_,
          recordings_.data(),
          std::int32_t(recorded_values)};
}

// Who moves whom: the own coordinates of every body of the carrier.
void CoordinateMapOwner::group(const Tree& carrier) {
  std::vector<const Copy*> copy(carrier.nv, nullptr);
  for (const Copy& c : velocities_) copy[c.to] = &c;
  std::vector<std::int32_t> station(carrier.nv, -1), owner(stations_.size(), -1), uses(own_.tree().nv, 0);
  for (std::size_t i = 0; i < stations_.size(); ++i) station[stations_[i].v] = std::int32_t(i);
  for (std::size_t j = 0; j < bodies_.size(); ++j)
    for (int k = bodies_[j].steps; k < bodies_[j].end; ++k)
      for (int i = steps_[k].stations; i < steps_[k].end; ++i) owner[i] = std::int32_t(j);
  std::int32_t last = -1;
  tree_like_ = true;
  for (int i = 0; i < carrier.size; ++i) {
    const Body& b = carrier.bodies[i];
    const std::int32_t s = station[b.v], group = s < 0 ? -1 : owner[s], n = s < 0 ? freedom(b.joint) : bodies_[group].n;
    expect(s < 0 || b.joint == Joint::free, "a station that does not move freely");
    carried_.push_back({std::int32_t(entries_.size()), n, s});
    for (int c = 0; c < n; ++c) {
      if (s >= 0) {
        entries_.push_back({bodies_[group].v + c, -1, 1.0});
      } else {
        expect(copy[b.v + c], "a coordinate of the carrier that nothing moves");
        entries_.push_back({copy[b.v + c]->from, b.v + c, copy[b.v + c]->ratio});
        tree_like_ &= freedom(b.joint) == 1 || carrier.stiffness[b.v + c] == 0;
      }
    }
    if (s >= 0 && group == last) {
      expect(b.parent == carrier.bodies[groups_.back().first].parent, "stations on different bodies");
      groups_.back().end = i + 1;
      continue;
    }
    last = group;
    groups_.push_back({i, i + 1});
    widest_group_ = std::max(widest_group_, int(n));
    for (int c = 0; c < n; ++c) tree_like_ &= ++uses[entries_[entries_.size() - n + c].column] == 1;
  }
}

namespace {

nb::object motion(const CoordinateMapOwner& self, nb::handle q, nb::handle v, nb::handle a, bool stacked, int extra) {
  const CoordinateMap& map = self.map();
  MapArguments given(self.own(), q, v, a, stacked);
  const Shape batch = given.batch();
  const States states = given.states(batch, map.nv);
  const int rows = std::max(0, states.rows + extra);
  Output full_q(nb::none(), with(batch, {map.full_nq})), full_v(nb::none(), with(batch, {states.rows, map.full_nv})),
      columns(nb::none(), with(batch, {rows, map.columns}));
  const MapCall call{&map, states, rows, full_q.data(), full_v.data(), columns.data()};
  const MapKernel kernel = kernels().coordinate_map(std::max(states.rows, rows));
  for_each_part(product(batch), station_cost(map, rows), kernel.workspace(map),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return nb::make_tuple(std::move(full_q).object(), std::move(full_v).object(), std::move(columns).object());
}

nb::object seconds(const CoordinateMapOwner& self, nb::handle q, nb::handle v, nb::handle a, bool stacked, int rows) {
  const CoordinateMap& map = self.map();
  MapArguments given(self.own(), q, v, a, stacked);
  const Shape batch = given.batch();
  const States states = given.states(batch, map.nv);
  Output out(nb::none(), with(batch, {rows, map.seconds}));
  const MapCall call{&map, states, rows, nullptr, nullptr, out.data()};
  const MapKernel kernel = kernels().coordinate_map_seconds(rows);
  for_each_part(product(batch), 4 * station_cost(map, rows), kernel.workspace(map),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return std::move(out).object();
}

// G^T f for a stack of forces of the carrier.
nb::object reduced(const CoordinateMapOwner& self, nb::handle columns_, nb::handle forces_) {
  const CoordinateMap& map = self.map();
  Input columns(columns_, "columns", 2), forces(forces_, "forces", 2);
  if (columns.dimensions() < 2 || forces.dimensions() < 2 || columns.size(-1) != map.columns || forces.size(-1) != map.full_nv ||
      columns.size(-2) < forces.size(-2))
    fail("columns and forces have shapes " + describe(columns.shape()) + " and " + describe(forces.shape()));
  const Shape batch = broadcast_shape({&columns, &forces});
  const int rows = int(forces.size(-2));
  Output out(nb::none(), with(batch, {rows, map.nv}));
  const std::ptrdiff_t column_step = columns.broadcast(batch), force_step = forces.broadcast(batch);
  const double *J = columns.data(), *f = forces.data();
  double* result = out.data();
  for_each_part(product(batch), 0.2 * station_cost(map, rows), 0, [&](std::ptrdiff_t begin, std::ptrdiff_t end, void*) {
    for (std::ptrdiff_t s = begin; s < end; ++s) reduce(map, J + s * column_step, f + s * force_step, rows, result + s * rows * map.nv);
  });
  return std::move(out).object();
}

// The Jacobian G of the carrier's velocity, and its derivatives, as matrices.
nb::object matrix(const CoordinateMapOwner& self, nb::handle columns_) {
  const CoordinateMap& map = self.map();
  Input columns(columns_, "columns", 2);
  if (columns.dimensions() < 2 || columns.size(-1) != map.columns) fail("columns have shape " + describe(columns.shape()));
  const int rows = int(columns.size(-2));
  Output out(nb::none(), with(columns.batch(), {rows, map.full_nv, map.nv}));
  const std::ptrdiff_t size = std::ptrdiff_t(map.full_nv) * map.nv, count = product(columns.batch()) * rows;
  std::fill_n(out.data(), size * count, 0.0);
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    double* G = out.data() + s * size;
    if (s % rows == 0)
      for (int j = 0; j < map.velocity_count; ++j)
        G[std::ptrdiff_t(map.velocities[j].to) * map.nv + map.velocities[j].from] = map.velocities[j].ratio;
    const double* J = columns.data() + s * map.columns;
    for_each_station(map, [&](const Station& station, const SoftBody& body) {
      for (int c = 0; c < body.n; ++c)
        for (int i = 0; i < 6; ++i) G[std::ptrdiff_t(station.v + i) * map.nv + body.v + c] = J[station.column + 6 * c + i];
    });
  }
  return std::move(out).object();
}

}  // namespace

void bind_coordinate_map(nb::module_& m) {
  nb::class_<CoordinateMapOwner> c(m, "CoordinateMap", "From a robot's own coordinates to those of the tree that carries it.");
  bind_carried(c);
  c.def(nb::init<const CoreModel&, const CoreModel&, nb::dict>(), nb::arg("own"), nb::arg("carrier"), nb::arg("tables"),
        nb::keep_alive<1, 2>(), nb::sig("def __init__(self, own: CoreModel, carrier: CoreModel, tables: dict[str, object]) -> None"))
      .def("motion", &motion, any("q"), any("v"), any("a"), nb::arg("stacked"), nb::arg("extra"),
           nb::sig("def motion(self, q: object, v: object, a: object, stacked: bool, extra: int)"
                   " -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                   "numpy.typing.NDArray[numpy.float64]]"),
           "q and the velocity stack of the carrier, and its Jacobians' stack, with `extra` rows more than the velocity.")
      .def("seconds", &seconds, any("q"), any("v"), any("a"), nb::arg("stacked"), nb::arg("rows"),
           nb::sig("def seconds(self, q: object, v: object, a: object, stacked: bool, rows: int) -> "
                   "numpy.typing.NDArray[numpy.float64]"),
           "The derivatives of the stations' Jacobians by the coordinates of their body: (..., rows, numbers).")
      .def("reduced", &reduced, any("columns"), any("forces"),
           nb::sig("def reduced(self, columns: object, forces: object) -> numpy.typing.NDArray[numpy.float64]"),
           "Forces of the carrier (..., rows, nv of it) as generalized forces (..., rows, nv).")
      .def("matrix", &matrix, any("columns"), nb::sig("def matrix(self, columns: object) -> numpy.typing.NDArray[numpy.float64]"),
           "The Jacobian of the carrier's velocity and its derivatives: (..., rows, nv of it, nv).");
}

}  // namespace jounce
