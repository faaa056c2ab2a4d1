// Dynamics of robots with soft bodies in one call each, for the usual case: body axes, no wrenches.
#include "bind.hpp"
#include "map_states.hpp"

namespace jounce {
namespace {

// The carrier's motion for all states of a call, in memory of its own.
struct Carried {
  const CoordinateMap& map;
  const Tree& tree;
  MapArguments given;
  Shape batch;
  States states;
  std::ptrdiff_t count;
  int column_rows;
  std::unique_ptr<double[]> q, v, columns;
  MapKernel kernel;

  Carried(const CoordinateMapOwner& self, const CoreModel& carrier, nb::handle q_, nb::handle v_, nb::handle a_, bool stacked, int extra,
          bool moving)
      : map(self.map()), tree(carrier.tree()), given(self.own(), q_, v_, a_, stacked) {
    if (moving && !given.has_v) fail("v must be an array of real numbers, got None");
    if (tree.nv != map.full_nv || tree.nq != map.full_nq) fail("this is not the carrier of the coordinate map");
    column_rows = std::max(0, given.rows() + extra);
    kernel = kernels().coordinate_map(std::max(given.rows(), column_rows));
  }

  void broadcast(const Shape& to) {
    batch = to;
    states = given.states(batch, map.nv);
    count = product(batch);
    q = scratch(count * map.full_nq), v = scratch(count * states.rows * map.full_nv), columns = scratch(count * column_rows * map.columns);
  }

  void run(std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) const {
    kernel.run({&map, states, column_rows, q.get(), v.get(), columns.get()}, begin, end, workspace);
  }
};

// `sign` times the forces of shapes' stiffness and viscosity, with derivatives.
void add_shape_forces(const CoordinateMap& map, const States& states, std::ptrdiff_t i, int rows, double sign, double* tau) {
  const double *q = states.q + i * states.q_step, *v = states.v + i * states.v_step, *rest = states.rest + i * states.rest_step;
  for (int j = 0; j < map.body_count; ++j) {
    const SoftBody& body = map.bodies[j];
    const int n = body.n;
    const double *K = map.numbers + body.stiffness, *D = K + n * n;
    const auto row = [&](int k) { return (k == 0 ? v : rest + std::ptrdiff_t(k - 1) * map.nv) + body.v; };
    for (int k = 0; k < rows; ++k) {
      const double *shape = k == 0 ? q + body.q : row(k - 1), *rate = row(k);
      double* force = tau + std::ptrdiff_t(k) * map.nv + body.v;
      for (int c = 0; c < n; ++c)
        for (int d = 0; d < n; ++d) force[c] += sign * (K[c * n + d] * shape[d] + D[c * n + d] * rate[d]);
    }
  }
}

void add_shape_stiffness(const CoordinateMap& map, double* K, double* D) {
  for (int j = 0; j < map.body_count; ++j) {
    const SoftBody& body = map.bodies[j];
    const double* own = map.numbers + body.stiffness;
    for (int c = 0; c < body.n; ++c)
      for (int d = 0; d < body.n; ++d, ++own) {
        const std::ptrdiff_t at = std::ptrdiff_t(body.v + c) * map.nv + body.v + d;
        K[at] += own[0];
        D[at] += own[body.n * body.n];
      }
  }
}

nb::object inverse_dynamics(const CoordinateMapOwner& self, const CoreModel& carrier, nb::handle q, nb::handle v, nb::handle a,
                            bool shapes) {
  Carried c(self, carrier, q, v, a, a.is_none(), -1, true);
  if (a.is_none()) expect_stack(self.own().tree(), c.given.v, 2, highest_order + 2, "v, dv/dt, ... (or v and a apart)");
  c.broadcast(c.given.batch());
  const int rows = c.states.rows - 1;
  const CoordinateMap& map = c.map;
  Output out(nb::none(), a.is_none() ? with(c.batch, {rows, map.nv}) : with(c.batch, {map.nv}));
  const auto force = scratch(c.count * rows * map.full_nv);
  const auto kernel = kernels().inverse_dynamics(rows - 1, c.count > 1);
  const std::ptrdiff_t step = std::ptrdiff_t(rows + 1) * map.full_nv;
  const States moving{c.q.get(), c.v.get(), c.v.get() + map.full_nv, map.full_nq, step, step, rows + 1};
  const InverseDynamicsCall call{&c.tree, moving, {nullptr, 0, nullptr, 0, Axes::body}, force.get()};
  double* tau = out.data();
  for_each_part(c.count, cost(c.tree, rows) + station_cost(map, rows),
                std::max(c.kernel.workspace(map), kernel.workspace(c.tree, rows + 1, 0)),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  c.run(begin, end, workspace);
                  kernel.run(call, begin, end, workspace);
                  for (std::ptrdiff_t i = begin; i < end; ++i) {
                    double* own = tau + i * rows * map.nv;
                    reduce(map, &c.columns[i * c.column_rows * map.columns], &force[i * rows * map.full_nv], rows, own);
                    if (shapes) add_shape_forces(map, c.states, i, rows, 1.0, own);
                  }
                });
  return std::move(out).object();
}

nb::object mass_matrix(const CoordinateMapOwner& self, const CoreModel& carrier, nb::handle q) {
  Carried c(self, carrier, q, nb::none(), nb::none(), false, 1, false);
  c.broadcast(c.given.batch());
  const CoordinateMap& map = c.map;
  Output M(nb::none(), with(c.batch, {map.nv, map.nv}));
  std::fill_n(M.data(), c.count * map.nv * map.nv, 0.0);
  const CarriedKernels& kernel = kernels().carried;
  CarriedCall call{&c.tree, &map, c.q.get(), c.v.get(), c.columns.get(), nullptr, 1,      c.states,
                   nullptr, 0,    nullptr,   nullptr,   M.data(),        nullptr, nullptr};
  for_each_part(c.count, cost(c.tree, 1) + station_cost(map, 1), std::max(c.kernel.workspace(map), kernel.workspace(c.tree, map)),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  c.run(begin, end, workspace);
                  kernel.mass_matrix(call, begin, end, workspace);
                });
  return std::move(M).object();
}

nb::object derivatives(const CoordinateMapOwner& self, const CoreModel& carrier, nb::handle q, nb::handle v, nb::handle a) {
  Carried c(self, carrier, q, v, a, false, 0, true);
  if (c.given.rows() != 2) fail("derivatives need v and a");
  c.broadcast(c.given.batch());
  const CoordinateMap& map = c.map;
  const Shape shape = with(c.batch, {map.nv, map.nv});
  Output K(nb::none(), shape), D(nb::none(), shape), M(nb::none(), shape);
  for (const Output* m : {&K, &D, &M}) std::fill_n(m->data(), c.count * map.nv * map.nv, 0.0);
  const std::ptrdiff_t size = std::ptrdiff_t(map.nv) * map.nv;
  const auto seconds = scratch(c.count * 2 * map.seconds);
  const MapKernel second = kernels().coordinate_map_seconds(2);
  const CarriedKernels& kernel = kernels().carried;
  const MapCall second_call{&map, c.states, 2, nullptr, nullptr, seconds.get()};
  const CarriedCall call{&c.tree, &map, c.q.get(), c.v.get(), c.columns.get(), seconds.get(), 2,      c.states,
                         nullptr, 0,    K.data(),  D.data(),  M.data(),        nullptr,       nullptr};
  const std::size_t bytes = std::max({c.kernel.workspace(map), second.workspace(map), kernel.workspace(c.tree, map)});
  for_each_part(c.count, 3 * cost(c.tree, 1) + 4 * station_cost(map, 2), bytes,
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  c.run(begin, end, workspace);
                  second.run(second_call, begin, end, workspace);
                  kernel.derivatives(call, begin, end, workspace);
                  for (std::ptrdiff_t i = begin; i < end; ++i) add_shape_stiffness(map, call.K + i * size, call.D + i * size);
                });
  return nb::make_tuple(std::move(K).object(), std::move(D).object(), std::move(M).object());
}

// The accelerations, and of each state the body of the carrier that has no inertia, -1 where all have.
nb::object forward_dynamics(const CoordinateMapOwner& self, const CoreModel& carrier, nb::handle q, nb::handle v, nb::handle tau_) {
  const nb::object rest = nb::steal(PyArray_ZEROS(1, &std::initializer_list<npy_intp>{self.map().nv}.begin()[0], NPY_DOUBLE, 0));
  Carried c(self, carrier, q, v, rest, false, 0, true);
  Input tau(tau_, "tau", 1);
  expect_velocity(self.own().tree(), tau);
  c.broadcast(broadcast_shape({&c.given.q, &c.given.v, &tau}));
  const CoordinateMap& map = c.map;
  Output acc(nb::none(), with(c.batch, {map.nv}));
  std::vector<std::int32_t> singular(c.count, -1);
  const std::ptrdiff_t tau_step = tau.broadcast(c.batch);
  const double* given = tau.data();
  const auto left = scratch(c.count * map.nv);  // of the forces, after those of the shapes
  const CarriedKernels& kernel = kernels().carried;
  const CarriedCall call{&c.tree, &map,    c.q.get(), c.v.get(), c.columns.get(), nullptr,        2, c.states, left.get(),
                         map.nv,  nullptr, nullptr,   nullptr,   acc.data(),      singular.data()};
  for_each_part(c.count, 2 * cost(c.tree, 1) + station_cost(map, 2), std::max(c.kernel.workspace(map), kernel.workspace(c.tree, map)),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  c.run(begin, end, workspace);
                  for (std::ptrdiff_t i = begin; i < end; ++i) {
                    std::copy_n(given + i * tau_step, map.nv, &left[i * map.nv]);
                    add_shape_forces(map, c.states, i, 1, -1.0, &left[i * map.nv]);
                  }
                  kernel.forward_dynamics(call, begin, end, workspace);
                });
  std::int32_t worst = -1;
  for (std::int32_t s : singular) worst = std::max(worst, s);
  return nb::make_tuple(std::move(acc).object(), worst);
}

}  // namespace

#define JOUNCE_ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_carried(nb::class_<CoordinateMapOwner>& c) {
  c.def("inverse_dynamics", &inverse_dynamics, nb::arg("carrier"), any("q"), any("v"), any("a"), nb::arg("shapes"),
        nb::sig("def inverse_dynamics(self, carrier: CoreModel, q: object, v: object, a: object, shapes: bool) -> " JOUNCE_ARRAY),
        "Inverse dynamics in own coordinates, with or without the linear forces of shapes.")
      .def("mass_matrix", &mass_matrix, nb::arg("carrier"), any("q"),
           nb::sig("def mass_matrix(self, carrier: CoreModel, q: object) -> " JOUNCE_ARRAY), "The mass matrix in own coordinates.")
      .def("derivatives", &derivatives, nb::arg("carrier"), any("q"), any("v"), any("a"),
           nb::sig("def derivatives(self, carrier: CoreModel, q: object, v: object, a: object) -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY
                   ", " JOUNCE_ARRAY "]"),
           "dtau/dq, dtau/dv and M, with the linear forces of shapes; where `tree_like`.")
      .def("forward_dynamics", &forward_dynamics, nb::arg("carrier"), any("q"), any("v"), any("tau"),
           nb::sig("def forward_dynamics(self, carrier: CoreModel, q: object, v: object, tau: object) -> tuple[" JOUNCE_ARRAY ", int]"),
           "Accelerations, with the linear forces of shapes, and a body without inertia or -1; where `tree_like`.")
      .def_prop_ro(
          "tree_like", [](const CoordinateMapOwner& self) { return bool(self.map().tree_like); },
          "Whether each coordinate belongs to one joint or one soft body, and springs to joints with one coordinate.");
}

}  // namespace jounce
