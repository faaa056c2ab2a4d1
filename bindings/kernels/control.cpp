#include "jounce/matrix/regulator.hpp"
#include "select.hpp"

JOUNCE_BEGIN

template <class Task, class Call>
static std::size_t bytes(const Call& call) {
  ArenaSize size;
  Task::make(call, size);
  return size.bytes();
}

struct DiscretizeTask {
  template <class Arena>
  static Discretization make(const DiscretizeCall& call, Arena& arena) {
    return Discretization(call.n, call.inputs, arena);
  }
  static void run(const DiscretizeCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Interruptible interruptible(call.unwanted);
    Arena arena(block);
    Discretization discretization = make(call, arena);
    const std::ptrdiff_t square = std::ptrdiff_t(call.n) * call.n, wide = std::ptrdiff_t(call.n) * call.inputs;
    for (std::ptrdiff_t i = begin; i < end; ++i)
      call.solved[i] = discretization.run(call.A + i * square, call.B + i * wide, call.step, call.E + i * square, call.F + i * wide);
  }
};

struct RegulatorTask {
  template <class Arena>
  static Regulator make(const RegulatorCall& call, Arena& arena) {
    return Regulator(call.n, call.inputs, call.discrete, arena);
  }
  static void run(const RegulatorCall& call, std::ptrdiff_t, std::ptrdiff_t, void* block) {
    const Interruptible interruptible(call.unwanted);
    Arena arena(block);
    *call.solved = make(call, arena).run(call.A, call.B, call.Q, call.R, call.K, call.P, call.unseen);
  }
};

struct IntervalsTask {
  template <class Arena>
  static RiccatiInterval make(const RegulatorsCall& call, Arena& arena) {
    return RiccatiInterval(call.n, call.inputs, arena);
  }
  static void run(const RegulatorsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Interruptible interruptible(call.unwanted);
    Arena arena(block);
    RiccatiInterval interval = make(call, arena);
    const bool begun = interval.start(call.Q, call.R);
    const std::ptrdiff_t square = std::ptrdiff_t(call.n) * call.n, wide = std::ptrdiff_t(call.n) * call.inputs;
    for (std::ptrdiff_t k = begin; k < end; ++k)
      call.solved[k] =
          begun && interval.run(call.A + k * square, call.B + k * wide, call.time[k + 1] - call.time[k], call.intervals + 3 * square * k);
  }
};

struct BackwardTask {
  template <class Arena>
  static BackwardRiccati make(const RegulatorsCall& call, Arena& arena) {
    return BackwardRiccati(call.n, call.inputs, arena);
  }
  static void run(const RegulatorsCall& call, std::ptrdiff_t, std::ptrdiff_t, void* block) {
    const Interruptible interruptible(call.unwanted);
    Arena arena(block);
    *call.solved = make(call, arena).run(call.count, call.intervals, call.B, call.R, call.Q_final, call.K, call.P);
  }
};

Kernel<DiscretizeCall> discretize_kernel(int, bool) { return {bytes<DiscretizeTask, DiscretizeCall>, DiscretizeTask::run}; }
Kernel<RegulatorCall> regulator_kernel(int, bool) { return {bytes<RegulatorTask, RegulatorCall>, RegulatorTask::run}; }
Kernel<RegulatorsCall> regulator_intervals_kernel(int, bool) { return {bytes<IntervalsTask, RegulatorsCall>, IntervalsTask::run}; }
Kernel<RegulatorsCall> regulators_backward_kernel(int, bool) { return {bytes<BackwardTask, RegulatorsCall>, BackwardTask::run}; }

JOUNCE_END
