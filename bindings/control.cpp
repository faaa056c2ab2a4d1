// Linear systems in discrete time, and regulators. The Python side has checked the arguments; shapes are checked again, as memory
// depends on them.
#include <vector>

#include "answers.hpp"
#include "bind.hpp"

namespace jounce {
namespace {

// Microseconds per product of matrices of n rows, roughly: fifteen operations a nanosecond.
double product_cost(npy_intp n) { return 1e-4 * double(n) * double(n) * double(n) + 0.1; }

// The last dimensions of an array.
void expect_shape(const Input& x, std::initializer_list<npy_intp> last) {
  x.expect_dimensions();
  int i = -int(last.size());
  for (npy_intp size : last)
    if (x.size(i++) != size) fail(x.name() + " has shape " + describe(x.shape()));
}

bool all(const bool* first, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i)
    if (!first[i]) return false;
  return true;
}

nb::object discretize(nb::handle A_, nb::handle B_, double step) {
  Input A(A_, "A", 2), B(B_, "B", 2);
  A.expect_dimensions(), B.expect_dimensions();
  const npy_intp n = A.size(-1), m = B.size(-1), count = product(A.batch());
  expect_shape(A, {n, n}), expect_shape(B, {n, m});
  if (product(B.batch()) != count) fail("A has shape " + describe(A.shape()) + " and B " + describe(B.shape()));
  Output E(nb::none(), A.shape()), F(nb::none(), B.shape());
  const auto solved = std::make_unique<bool[]>(count + 1);
  const DiscretizeCall call{A.data(), B.data(), int(n), int(m), step, E.data(), F.data(), solved.get(), interrupted};
  const auto kernel = kernels().discretize(0, false);
  for_each_part(count, 8 * product_cost(n), kernel.workspace(call),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  const Kernels& table = kernels();
  const bool good = all(solved.get(), count) && table.finite(E.data(), count * n * n) && table.finite(F.data(), count * n * m);
  return nb::make_tuple(std::move(E).object(), std::move(F).object(), good);
}

nb::object regulator(nb::handle A_, nb::handle B_, nb::handle Q_, nb::handle R_, bool discrete) {
  Input A(A_, "A", 2), B(B_, "B", 2), Q(Q_, "Q", 2), R(R_, "R", 2);
  A.expect_dimensions(), B.expect_dimensions();
  const npy_intp n = A.size(-1), m = B.size(-1);
  expect_shape(A, {n, n}), expect_shape(B, {n, m}), expect_shape(Q, {n, n}), expect_shape(R, {m, m});
  Output K(nb::none(), Shape{m, n}), P(nb::none(), Shape{n, n});
  bool solved = false, unseen = false;
  const RegulatorCall call{A.data(), B.data(), Q.data(), R.data(), int(n),  int(m),
                           discrete, K.data(), P.data(), &solved,  &unseen, interrupted};
  const auto kernel = kernels().regulator(0, false);
  for_each_part(1, 200 * product_cost(n), kernel.workspace(call),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  const bool good = solved && kernels().finite(K.data(), m * n) && kernels().finite(P.data(), n * n);
  return nb::make_tuple(std::move(K).object(), std::move(P).object(), good, unseen);
}

nb::object regulators(nb::handle time_, nb::handle A_, nb::handle B_, nb::handle Q_, nb::handle R_, nb::handle Q_final_) {
  Input time(time_, "times", 1), A(A_, "A", 3), B(B_, "B", 3), Q(Q_, "Q", 2), R(R_, "R", 2), Q_final(Q_final_, "Q_final", 2);
  time.expect_dimensions(), A.expect_dimensions(), B.expect_dimensions();
  const npy_intp count = time.total(), n = A.size(-1), m = B.size(-1);
  expect_shape(A, {count, n, n}), expect_shape(B, {count, n, m}), expect_shape(Q, {n, n});
  expect_shape(R, {m, m}), expect_shape(Q_final, {n, n});
  if (count < 1) fail("times has shape " + describe(time.shape()));
  Output K(nb::none(), Shape{count, m, n}), P(nb::none(), Shape{count, n, n});
  const auto intervals = scratch((count - 1) * 3 * n * n);
  const auto solved = std::make_unique<bool[]>(count);
  RegulatorsCall call{A.data(), B.data(), Q.data(),        R.data(), Q_final.data(), time.data(),  int(count),
                      int(n),   int(m),   intervals.get(), K.data(), P.data(),       solved.get(), interrupted};
  const auto each = kernels().regulator_intervals(0, false), back = kernels().regulators_backward(0, false);
  for_each_part(count - 1, 8 * product_cost(2 * n), each.workspace(call),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { each.run(call, begin, end, workspace); });
  bool good = all(solved.get(), count - 1);
  if (good) {
    call.solved = &good;
    for_each_part(1, double(count) * 5 * product_cost(n), back.workspace(call),
                  [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { back.run(call, begin, end, workspace); });
  }
  good = good && kernels().finite(K.data(), count * m * n) && kernels().finite(P.data(), count * n * n);
  return nb::make_tuple(std::move(K).object(), std::move(P).object(), good);
}

#define JOUNCE_ARRAY "numpy.typing.NDArray[numpy.float64]"

}  // namespace

void bind_control(nb::module_& m) {
  m.def("discretize", &discretize, any("A"), any("B"), nb::arg("dt"),
        nb::sig("def discretize(A: object, B: object, dt: float) -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY ", bool]"),
        "A (..., n, n) and B (..., n, m) of x' = A x + B u in discrete time, and whether they are numbers.");
  m.def("regulator", &regulator, any("A"), any("B"), any("Q"), any("R"), nb::arg("discrete"),
        nb::sig("def regulator(A: object, B: object, Q: object, R: object, discrete: bool) -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY
                ", bool, bool]"),
        "K (m, n) and P (n, n) of the stationary Riccati equation, whether there are any, and whether some unstable motion may not be in "
        "Q: if one is that neither grows nor fades, K does not stop it.");
  m.def("regulators", &regulators, any("times"), any("A"), any("B"), any("Q"), any("R"), any("Q_final"),
        nb::sig("def regulators(times: object, A: object, B: object, Q: object, R: object, Q_final: object) -> tuple[" JOUNCE_ARRAY
                ", " JOUNCE_ARRAY ", bool]"),
        "K (T, m, n) and P (T, n, n) of the Riccati equation backward in time, and whether they are numbers.");
}

}  // namespace jounce
