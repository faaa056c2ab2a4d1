// Dynamics of robots with soft bodies in one call each, for the usual case: body axes, no wrenches.
#include "bind.hpp"
#include "map_states.hpp"

namespace jounce {
namespace {

// The carrier's motion for the states of a call, some of them at a time, so that it stays in the cache.
class Carried {
 public:
  const CoordinateMap& map;
  const Tree& tree;
  MapArguments given;
  Shape batch;
  std::ptrdiff_t count = 0;

  Carried(const CoordinateMapOwner& self, const CoreModel& carrier, nb::handle q, nb::handle v, nb::handle a, bool stacked, int extra,
          bool moving)
      : map(self.map()), tree(carrier.tree()), given(self.own(), q, v, a, stacked) {
    if (moving && !given.has_v) fail("v must be an array of real numbers, got None");
    if (tree.nv != map.full_nv || tree.nq != map.full_nq) fail("this is not the carrier of the coordinate map");
    column_rows_ = std::max(0, given.rows() + extra);
    kernel_ = kernels().coordinate_map(std::max(given.rows(), column_rows_));
  }

  void broadcast(const Shape& to) {
    batch = to;
    states_ = given.states(batch, map.nv);
    count = product(batch);
  }

  // Some states: own and of the carrier, counted from `first`; `more` numbers a state, to be used freely.
  struct Block {
    States states;
    std::ptrdiff_t first, count;
    double *q, *v, *columns, *more;
    int column_rows;
    void* workspace;
  };

  // Calls each(block) for all blocks, with the given workspace.
  template <class Each>
  void for_each_block(double cost, std::size_t workspace_bytes, std::ptrdiff_t more, const Each& each) const {
    const std::ptrdiff_t size = std::min<std::ptrdiff_t>(count, 16), rows = states_.rows;
    const std::size_t bytes = (std::max(workspace_bytes, kernel_.workspace(map)) + 63) / 64 * 64;
    const std::ptrdiff_t item = map.full_nq + rows * map.full_nv + std::ptrdiff_t(column_rows_) * map.columns + more;
    for_each_part(count, cost + station_cost(map, int(rows)), bytes + size * item * sizeof(double),
                  [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                    double* q = reinterpret_cast<double*>(static_cast<std::byte*>(workspace) + bytes);
                    double *v = q + size * map.full_nq, *columns = v + size * rows * map.full_nv;
                    Block block{states_, 0, 0, q, v, columns, columns + size * column_rows_ * map.columns, column_rows_, workspace};
                    for (std::ptrdiff_t s = begin; s < end; s += size) {
                      block.first = s, block.count = std::min(size, end - s);
                      block.states.q = states_.q + s * states_.q_step;
                      if (rows > 0)
                        block.states.v = states_.v + s * states_.v_step, block.states.rest = states_.rest + s * states_.rest_step;
                      kernel_.run({&map, block.states, column_rows_, q, v, columns}, 0, block.count, workspace);
                      each(block);
                    }
                  });
  }

 private:
  States states_{};
  int column_rows_ = 0;
  MapKernel kernel_{};
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
  const CoordinateMap& map = c.map;
  const int rows = c.given.rows() - 1;
  Output out(nb::none(), a.is_none() ? with(c.batch, {rows, map.nv}) : with(c.batch, {map.nv}));
  const auto kernel = kernels().inverse_dynamics(rows - 1, c.count > 1);
  const std::ptrdiff_t step = std::ptrdiff_t(rows + 1) * map.full_nv;
  double* tau = out.data();
  c.for_each_block(cost(c.tree, rows), kernel.workspace(c.tree, rows + 1, 0), std::ptrdiff_t(rows) * map.full_nv,
                   [&](const Carried::Block& b) {
                     const States moving{b.q, b.v, b.v + map.full_nv, map.full_nq, step, step, rows + 1};
                     kernel.run({&c.tree, moving, {nullptr, 0, nullptr, 0, Axes::body}, b.more}, 0, b.count, b.workspace);
                     for (std::ptrdiff_t i = 0; i < b.count; ++i) {
                       double* own = tau + (b.first + i) * rows * map.nv;
                       reduce(map, b.columns + i * b.column_rows * map.columns, b.more + i * rows * map.full_nv, rows, own);
                       if (shapes) add_shape_forces(map, b.states, i, rows, 1.0, own);
                     }
                   });
  return std::move(out).object();
}

// What the kernels for robots with soft bodies take from a block.
CarriedCall call_for(const Carried& c, const Carried::Block& b) {
  CarriedCall call{};
  call.tree = &c.tree, call.map = &c.map, call.q = b.q, call.v = b.v, call.columns = b.columns;
  call.column_rows = b.column_rows, call.states = b.states;
  return call;
}

nb::object mass_matrix(const CoordinateMapOwner& self, const CoreModel& carrier, nb::handle q) {
  Carried c(self, carrier, q, nb::none(), nb::none(), false, 1, false);
  c.broadcast(c.given.batch());
  const std::ptrdiff_t size = std::ptrdiff_t(c.map.nv) * c.map.nv;
  Output M(nb::none(), with(c.batch, {c.map.nv, c.map.nv}));
  double* out = M.data();
  const CarriedKernels& kernel = kernels().carried;
  c.for_each_block(cost(c.tree, 1), kernel.workspace(c.tree, c.map), 0, [&](const Carried::Block& b) {
    CarriedCall call = call_for(c, b);
    call.M = out + b.first * size;
    std::fill_n(call.M, b.count * size, 0.0);
    kernel.mass_matrix(call, 0, b.count, b.workspace);
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
  double *stiffness = K.data(), *damping = D.data(), *mass = M.data();
  const std::ptrdiff_t size = std::ptrdiff_t(map.nv) * map.nv;
  const MapKernel second = kernels().coordinate_map_seconds(2);
  const CarriedKernels& kernel = kernels().carried;
  c.for_each_block(3 * (cost(c.tree, 1) + station_cost(map, 2)), std::max(second.workspace(map), kernel.workspace(c.tree, map)),
                   2 * std::ptrdiff_t(map.seconds), [&](const Carried::Block& b) {
                     second.run({&map, b.states, 2, nullptr, nullptr, b.more}, 0, b.count, b.workspace);
                     CarriedCall call = call_for(c, b);
                     call.seconds = b.more;
                     call.K = stiffness + b.first * size, call.D = damping + b.first * size, call.M = mass + b.first * size;
                     for (double* m : {call.K, call.D, call.M}) std::fill_n(m, b.count * size, 0.0);
                     kernel.derivatives(call, 0, b.count, b.workspace);
                     for (std::ptrdiff_t i = 0; i < b.count; ++i) add_shape_stiffness(map, call.K + i * size, call.D + i * size);
                   });
  return nb::make_tuple(std::move(K).object(), std::move(D).object(), std::move(M).object());
}

// The accelerations, and the body of the carrier that has no inertia in some state, -1 where all have.
nb::object forward_dynamics(const CoordinateMapOwner& self, const CoreModel& carrier, nb::handle q, nb::handle v, nb::handle tau_) {
  npy_intp nv = self.map().nv;
  const nb::object rest = nb::steal(PyArray_ZEROS(1, &nv, NPY_DOUBLE, 0));
  Carried c(self, carrier, q, v, rest, false, 0, true);
  Input tau(tau_, "tau", 1);
  expect_velocity(self.own().tree(), tau);
  c.broadcast(broadcast_shape({&c.given.q, &c.given.v, &tau}));
  Output acc(nb::none(), with(c.batch, {nv}));
  std::vector<std::int32_t> singular(c.count, -1);
  const std::ptrdiff_t tau_step = tau.broadcast(c.batch);
  const double* forces = tau.data();
  double* result = acc.data();
  const CarriedKernels& kernel = kernels().carried;
  c.for_each_block(2 * cost(c.tree, 1), kernel.workspace(c.tree, c.map), nv, [&](const Carried::Block& b) {
    for (std::ptrdiff_t i = 0; i < b.count; ++i) {  // what is left of the forces after those of the shapes
      std::copy_n(forces + (b.first + i) * tau_step, nv, b.more + i * nv);
      add_shape_forces(c.map, b.states, i, 1, -1.0, b.more + i * nv);
    }
    CarriedCall call = call_for(c, b);
    call.tau = b.more, call.tau_step = nv, call.acc = result + b.first * nv, call.singular = singular.data() + b.first;
    kernel.forward_dynamics(call, 0, b.count, b.workspace);
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
