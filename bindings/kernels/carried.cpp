#include "jounce/carried_dynamics.hpp"
#include "select.hpp"

JOUNCE_BEGIN

namespace {

struct Space {
  using Ring = CarriedDynamics::Ring;
  Motion<Ring> motion;
  WorldFrame<Ring> world;
  CarriedDynamics dynamics;
  double* own;  // velocity and acceleration
  template <class Arena>
  Space(const Tree& tree, const CoordinateMap& map, Arena& arena)
      : motion(Motion<Ring>::allocate(tree, arena)),
        world(tree, motion, arena),
        dynamics(tree, map, world, arena),
        own(arena.template take<double>(2 * std::size_t(map.nv))) {}

  // Poses and screws of a state.
  void start(const CarriedCall& call, std::ptrdiff_t i) {
    const States states{call.q, nullptr, nullptr, call.tree->nq, 0, 0, 0};
    motion.read(*call.tree, states, i, 1, 0);
    world.place(Axes::body);
    dynamics.set_columns(columns(call, i));
  }
  static const double* columns(const CarriedCall& call, std::ptrdiff_t i) {
    return call.columns + i * call.column_rows * call.map->columns;
  }
};

std::size_t workspace(const Tree& tree, const CoordinateMap& map) {
  ArenaSize size;
  Space(tree, map, size);
  return size.bytes();
}

template <class Each>
void run(const CarriedCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block, const Each& each) {
  Arena arena(block);
  Space space(*call.tree, *call.map, arena);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    space.start(call, i);
    each(space, i);
  }
}

void mass_matrix(const CarriedCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
  run(call, begin, end, block, [&](Space& space, std::ptrdiff_t i) {
    space.world.weigh_subtrees();
    space.dynamics.mass_matrix(call.M + i * call.map->nv * call.map->nv);
  });
}

void derivatives(const CarriedCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
  const std::ptrdiff_t nv = call.map->nv, size = nv * nv;
  run(call, begin, end, block, [&](Space& space, std::ptrdiff_t i) {
    for (std::ptrdiff_t c = 0; c < nv; ++c) {
      space.own[c] = call.states.v[i * call.states.v_step + c];
      space.own[nv + c] = call.states.rest[i * call.states.rest_step + c];
    }
    space.world.weigh();
    space.dynamics.derivatives(space.own, call.v + i * 2 * call.tree->nv, Space::columns(call, i), call.seconds + i * 2 * call.map->seconds,
                               call.K + i * size, call.D + i * size, call.M + i * size);
  });
}

void forward_dynamics(const CarriedCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
  run(call, begin, end, block, [&](Space& space, std::ptrdiff_t i) {
    space.world.weigh();
    call.singular[i] = space.dynamics.forward(call.q + i * call.tree->nq, call.v + i * 2 * call.tree->nv, call.tau + i * call.tau_step,
                                              call.acc + i * call.map->nv);
  });
}

}  // namespace

CarriedKernels carried_kernels() { return {workspace, mass_matrix, derivatives, forward_dynamics}; }

JOUNCE_END
