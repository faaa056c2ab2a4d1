// Of all multipliers l(t) that give the same forces J(t)^T l(t), the least ones: those in the range of J, l = J z. Their Taylor
// coefficients follow one after another, with the same inverse at every order. Minimizing the norm of each order by itself would not
// give the derivatives of anything.
#include "bind.hpp"
#include "core_model.hpp"
#include "parallel.hpp"
#include "pseudo_inverse.hpp"
#include "states.hpp"

namespace jounce {
namespace {

class LeastMultipliers {
 public:
  // m rows, n coordinates, `orders` coefficients.
  LeastMultipliers(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t orders, double* space)
      : m_(m),
        n_(n),
        orders_(orders),
        z_(space),
        force_(z_ + orders * n),
        between_(force_ + n),
        known_(between_ + m),
        inverse_(known_ + m),
        pseudo_(m, n, inverse_ + m * n) {}
  static std::ptrdiff_t numbers(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t orders) {
    return orders * n + n + 2 * m + m * n + PseudoInverse::numbers(m, n);
  }

  // J (orders, m, n); given and least (orders, m); weights (m).
  void run(const double* J, const double* given, const double* weights, double* least) {
    pseudo_.run(J, weights, inverse_);
    for (std::ptrdiff_t k = 0; k < orders_; ++k) {
      std::fill_n(force_, n_, 0.0);
      std::fill_n(known_, m_, 0.0);
      for (std::ptrdiff_t j = 0; j <= k; ++j) add_force(J + j * m_ * n_, 1, given + (k - j) * m_);
      for (std::ptrdiff_t j = 1; j <= k; ++j) {
        add_force(J + j * m_ * n_, -1, least + (k - j) * m_);
        add_rows(J + j * m_ * n_, z_ + (k - j) * n_, known_);
      }
      add_force(J, -1, known_);
      std::fill_n(between_, m_, 0.0);
      for (std::ptrdiff_t c = 0; c < n_; ++c)
        for (std::ptrdiff_t r = 0; r < m_; ++r) between_[r] += inverse_[c * m_ + r] * force_[c];
      double* l = least + k * m_;
      for (std::ptrdiff_t r = 0; r < m_; ++r) l[r] = known_[r] + between_[r];
      for (std::ptrdiff_t c = 0; c < n_; ++c) {
        double sum = 0;
        for (std::ptrdiff_t r = 0; r < m_; ++r) sum += inverse_[c * m_ + r] * between_[r];
        z_[k * n_ + c] = sum;
      }
    }
  }

 private:
  void add_force(const double* J, double sign, const double* l) {
    for (std::ptrdiff_t r = 0; r < m_; ++r)
      for (std::ptrdiff_t c = 0; c < n_; ++c) force_[c] += sign * l[r] * J[r * n_ + c];
  }
  void add_rows(const double* J, const double* z, double* out) const {
    for (std::ptrdiff_t r = 0; r < m_; ++r)
      for (std::ptrdiff_t c = 0; c < n_; ++c) out[r] += J[r * n_ + c] * z[c];
  }

  std::ptrdiff_t m_, n_, orders_;
  double *z_, *force_, *between_, *known_, *inverse_;
  PseudoInverse pseudo_;
};

// The weights of m rows; none if there are none.
Input weights_of(nb::handle given, std::ptrdiff_t m) {
  Input weights;
  if (given.is_none()) return weights;
  weights = Input(given, "weights", 1);
  if (weights.dimensions() != 1 || weights.size(-1) != m) fail("weights has shape " + describe(weights.shape()));
  return weights;
}
const double* data_of(const Input& given) { return given.object().is_valid() ? given.data() : nullptr; }

// Natural sizes in which forces are compared: of the rows' loads and of the coordinates; and of the rows, for ranks.
struct Sizes {
  const double *loads, *coordinates;
};

// `in`: J and multipliers are derivatives, in units of their own; otherwise Taylor coefficients, and as they are.
nb::object least(nb::handle J_, nb::handle multipliers_, const double* weights, std::ptrdiff_t weighted, const Sizes* in) {
  Input J(J_, "J", 3), given(multipliers_, "multipliers", 2);
  if (J.dimensions() < 3 || given.dimensions() < 2 || given.size(-2) != J.size(-3) || given.size(-1) != J.size(-2) ||
      (weights && J.size(-2) != weighted))
    fail("J has shape " + describe(J.shape()) + " and multipliers " + describe(given.shape()));
  const Shape batch = broadcast_shape({&J, &given});
  const std::ptrdiff_t orders = J.size(-3), m = J.size(-2), n = J.size(-1), states = product(batch);
  const std::ptrdiff_t J_step = J.broadcast(batch), step = given.broadcast(batch);
  Shape shape = batch;
  shape.append({orders, m});
  Output out(nb::none(), shape);
  const double *from = J.data(), *old = given.data();
  double* to = out.data();
  const std::ptrdiff_t own = LeastMultipliers::numbers(m, n, orders), scaled = in ? orders * m * (n + 1) : 0;
  for_each_part(states, 0.002 * double(m * n) * double(m + orders), sizeof(double) * (own + scaled + 1),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  double* const space = static_cast<double*>(workspace);
                  LeastMultipliers least(m, n, orders, space);
                  for (std::ptrdiff_t i = begin; i < end; ++i) {
                    const double *rows = from + i * J_step, *shares = old + i * step;
                    double* const result = to + i * orders * m;
                    if (!in) {
                      least.run(rows, shares, weights, result);
                      continue;
                    }
                    double *J = space + own, *l = J + orders * m * n, factorial = 1;
                    for (std::ptrdiff_t k = 0; k < orders; factorial *= double(++k))
                      for (std::ptrdiff_t r = 0; r < m; ++r) {
                        const double load = in->loads[r] * factorial;
                        for (std::ptrdiff_t c = 0; c < n; ++c) *J++ = *rows++ / load * in->coordinates[c];
                        *l++ = *shares++ * in->loads[r] / factorial;
                      }
                    least.run(space + own, space + own + orders * m * n, weights, result);
                    factorial = 1;
                    for (std::ptrdiff_t k = 0; k < orders; factorial *= double(++k))
                      for (std::ptrdiff_t r = 0; r < m; ++r) result[k * m + r] *= factorial / in->loads[r];
                  }
                });
  return std::move(out).object();
}

nb::object least_multipliers(nb::handle J, nb::handle multipliers, nb::handle weights_) {
  const Input weights = weights_of(weights_, Input(J, "J", 3).size(-2));
  return least(J, multipliers, data_of(weights), weights.object().is_valid() ? weights.size(-1) : 0, nullptr);
}

nb::object least_shares(const CoreModel& model, nb::handle J, nb::handle multipliers) {
  const NaturalSizes& of = model.sizes();
  std::vector<double> weights(of.rows);
  for (std::size_t r = 0; r < weights.size(); ++r) weights[r] /= of.loads[r];
  const Sizes in{of.loads.data(), of.coordinates.data()};
  return least(J, multipliers, weights.data(), std::ptrdiff_t(weights.size()), &in);
}

nb::object pseudo_inverse(nb::handle A_, nb::handle weights_) {
  Input A(A_, "A", 2);
  if (A.dimensions() < 2) fail("A has shape " + describe(A.shape()) + ", expected matrices");
  const Input weights = weights_of(weights_, A.size(-2));
  const Shape batch = A.batch();
  const std::ptrdiff_t m = A.size(-2), n = A.size(-1), states = product(batch);
  Shape shape = batch;
  shape.append({n, m});
  Output out(nb::none(), shape);
  const double *from = A.data(), *each = data_of(weights);
  double* to = out.data();
  for_each_part(states, 0.002 * double(m * n) * double(m < n ? m : n), sizeof(double) * (PseudoInverse::numbers(m, n) + 1),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  PseudoInverse inverse(m, n, static_cast<double*>(workspace));
                  for (std::ptrdiff_t i = begin; i < end; ++i) inverse.run(from + i * m * n, each, to + i * m * n);
                });
  return std::move(out).object();
}

}  // namespace

void bind_least_multipliers(nb::module_& m, nb::class_<CoreModel>& c) {
  c.def("_least_shares", &least_shares, any("J"), any("multipliers"),
        nb::sig("def _least_shares(self, J: object, multipliers: object) -> numpy.typing.NDArray[numpy.float64]"),
        "`least_multipliers` of the model's constraints, in natural sizes, of J (..., r + 1, rows, nv) and multipliers (..., r + 1, rows) "
        "with their derivatives.");
  m.attr("NEGLIGIBLE") = negligible;
  m.def("least_multipliers", &least_multipliers, any("J"), any("multipliers"), any("weights") = nb::none(),
        nb::sig("def least_multipliers(J: object, multipliers: object, weights: object = None) -> numpy.typing.NDArray[numpy.float64]"),
        "The multipliers (..., r + 1, rows) of least norm that make the same forces as those given, where J (..., r + 1, rows, n) moves; "
        "all are Taylor coefficients, and weighted as in `pseudo_inverse`.");
  m.def("pseudo_inverse", &pseudo_inverse, any("A"), any("weights") = nb::none(),
        nb::sig("def pseudo_inverse(A: object, weights: object = None) -> numpy.typing.NDArray[numpy.float64]"),
        "The pseudo-inverses (..., n, m) of matrices A (..., m, n). To judge which rows are "
        "independent, they are divided by the weights (m,), which should make large entries about 1: a row then counts as a combination of "
        "the others if less than 1e-6 is left of it once they are projected out.");
}

}  // namespace jounce
