#include "recorded.hpp"

#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "jounce/ring/ring.hpp"
#include "parallel.hpp"

namespace jounce {

Recorded::Recorded(int inputs, const std::vector<std::int32_t>& operations, nb::handle values, const std::vector<std::int32_t>& outputs,
                   const nb::list& tables)
    : outputs_(outputs) {
  for (nb::handle each : tables) {
    const Input knots(nb::borrow(each[0]), "knots", 1), coefficients(nb::borrow(each[1]), "coefficients", 2);
    if (knots.dimensions() != 1 || coefficients.dimensions() != 2 || coefficients.size(0) < 1 ||
        knots.size(0) != coefficients.size(0) + 1 || coefficients.size(1) < 1 || coefficients.size(1) > highest_degree + 1 ||
        coefficients.size(0) > (1 << 20))
      fail("recording: a table");
    const double* first = numbers_.emplace_back(knots.data(), knots.data() + knots.total()).data();
    const double* second = numbers_.emplace_back(coefficients.data(), coefficients.data() + coefficients.total()).data();
    tables_.push_back({first, second, std::int32_t(coefficients.size(0)), std::int32_t(coefficients.size(1)) - 1});
  }
  const Input value(values, "values", 1);
  const std::size_t size = operations.size() / 3;
  if (operations.size() % 3 != 0 || std::size_t(value.total()) != size || inputs < 0 || size > (1u << 28)) fail("recording: its length");
  for (std::size_t i = 0; i < size; ++i) {
    const Instruction in{Operation(operations[3 * i]), operations[3 * i + 1], operations[3 * i + 2], value.data()[i]};
    const std::int64_t own = inputs + std::int64_t(i);
    bool good = in.op >= Operation::constant && in.op < Operation::count;
    good = good && (operands(in.op) < 1 || (in.a >= 0 && in.a < own));
    if (good && in.op == Operation::sine)
      good = i + 1 < size && in.b == own + 1 && Operation(operations[3 * i + 3]) == Operation::cosine;
    else
      good = good && (operands(in.op) < 2 || (in.b >= 0 && in.b < own));
    if (good && in.op == Operation::cosine) good = i > 0 && Operation(operations[3 * i - 3]) == Operation::sine;
    if (good && in.op == Operation::stumpff) good = in.value >= 0 && in.value <= highest_stumpff;
    if (good && in.op == Operation::piecewise) good = in.value >= 0 && in.value < double(tables_.size());
    if (!good) fail("recording: instruction " + std::to_string(i));
    instructions_.push_back(in);
  }
  for (std::int32_t i : outputs)
    if (i < 0 || i >= inputs + std::int64_t(size)) fail("recording: an output that does not exist");
  recording_ = {instructions_.data(), outputs_.data(), tables_.data(), inputs, std::int32_t(size), std::int32_t(outputs_.size())};
}

namespace {

nb::object derivatives(const Recorded& self, nb::handle x_) {
  const Recording& recording = self.recording();
  Input x(x_, "x", 2);
  if (x.dimensions() < 2 || x.size(-1) != recording.inputs || x.size(-2) < 1 || x.size(-2) > max_order + 3)
    fail("x has shape " + describe(x.shape()) + ", expected a stack (..., rows, " + std::to_string(recording.inputs) + ")");
  const int K = int(x.size(-2)), n = recording.inputs, m = recording.output_count;
  const Shape batch = x.batch();
  Shape shape = batch;
  shape.push_back(K);
  shape.push_back(m);
  Output out(nb::none(), shape);
  const double* given = x.data();
  double* result = out.data();
  const std::size_t values = std::size_t(n + recording.size) * K;
  for_each_part(product(batch), 0.005 * K * recording.size, (values + 1) * sizeof(double),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  double* series = static_cast<double*>(workspace);
                  for (std::ptrdiff_t s = begin; s < end; ++s) {
                    for (int i = 0; i < n; ++i)
                      for (int k = 0; k < K; ++k) series[std::ptrdiff_t(i) * K + k] = factorial.inverse[k] * given[(s * K + k) * n + i];
                    replay(recording, 0, K, K, series);
                    for (int i = 0; i < m; ++i)
                      for (int k = 0; k < K; ++k)
                        result[(s * K + k) * m + i] = factorial.value[k] * series[std::ptrdiff_t(recording.outputs[i]) * K + k];
                  }
                });
  return std::move(out).object();
}

}  // namespace

void bind_recorded(nb::module_& m) {
  nb::class_<Recorded>(m, "Recorded", "A function recorded as elementary operations.")
      .def(nb::init<int, const std::vector<std::int32_t>&, nb::handle, const std::vector<std::int32_t>&, const nb::list&>(),
           nb::arg("inputs"), nb::arg("operations"), nb::arg("values"), nb::arg("outputs"), nb::arg("tables"),
           nb::sig(
               "def __init__(self, inputs: int, operations: list[int], values: object, outputs: list[int], tables: list[object]) -> None"))
      .def("derivatives", &derivatives, any("x"), nb::sig("def derivatives(self, x: object) -> numpy.typing.NDArray[numpy.float64]"),
           "Its time derivatives (..., K, outputs) along a motion with derivatives x (..., K, inputs).");
}

}  // namespace jounce
