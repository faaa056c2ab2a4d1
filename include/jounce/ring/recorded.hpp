// A function recorded as a list of elementary operations, evaluated on Taylor series of any length.
//
// Instruction i computes value inputs + i from earlier values. Each operation on series is the textbook recurrence (Griewank and
// Walther, Evaluating Derivatives, ch. 13), which gives every time derivative of the function along a motion.
#pragma once

#include "jounce/ring/stumpff.hpp"

namespace jounce {

enum class Operation : std::int32_t {
  constant,
  add,
  subtract,
  multiply,
  divide,
  scale,
  sqrt,
  exp,
  log,
  sine,
  cosine,
  power,
  arctan,
  stumpff,
  piecewise,
  count
};

// How many earlier values an operation reads.
constexpr int operands(Operation op) {
  switch (op) {
    case Operation::constant:
      return 0;
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::sine:    // of a, and the value that will be cos a, which comes next
    case Operation::cosine:  // of a, and the value that is sin a
    case Operation::arctan:  // of a, and 1 + a^2
      return 2;
    default:
      return 1;
  }
}

constexpr int highest_stumpff = 12;

struct Instruction {
  Operation op;
  std::int32_t a, b;
  double value;  // the constant, factor, exponent or index
};

constexpr int highest_degree = 9;

// Polynomials of equal degree between knots; the first and the last also apply beyond the ends. Coefficients (pieces, degree + 1),
// lowest first, about the knot where each piece begins.
struct Piecewise {
  const double *knots, *coefficients;  // knots: (pieces + 1)
  std::int32_t pieces, degree;
};

struct Recording {
  const Instruction* instructions;
  const std::int32_t* outputs;
  const Piecewise* tables;
  std::int32_t inputs, size, output_count;
};

}  // namespace jounce

JOUNCE_BEGIN

// Coefficients [from, to) of every value in `x` (inputs + size, K), from lower ones and those of the inputs.
inline void replay(const Recording& recording, int from, int to, int K, double* x) {
  const auto at = [&](std::int32_t i) { return x + std::ptrdiff_t(i) * K; };
  const auto sum = [](int from, int to, const auto& term) {
    double y = 0;
    for (int j = from; j <= to; ++j) y += term(j);
    return y;
  };
  const auto each = [&](const auto& set) JOUNCE_LAMBDA_INLINE {
    for (int k = from; k < to; ++k) set(k);
  };
  for (int i = 0; i < recording.size; ++i) {
    const Instruction& in = recording.instructions[i];
    double* y = at(recording.inputs + i);
    const double *a = operands(in.op) > 0 ? at(in.a) : nullptr, *b = operands(in.op) > 1 ? at(in.b) : nullptr;
    switch (in.op) {
      case Operation::constant:
        each([&](int k) { y[k] = k == 0 ? in.value : 0; });
        break;
      case Operation::add:
        each([&](int k) { y[k] = a[k] + b[k]; });
        break;
      case Operation::subtract:
        each([&](int k) { y[k] = a[k] - b[k]; });
        break;
      case Operation::scale:
        each([&](int k) { y[k] = in.value * a[k]; });
        break;
      case Operation::multiply:
        each([&](int k) { y[k] = sum(0, k, [&](int j) { return a[j] * b[k - j]; }); });
        break;
      case Operation::divide:
        each([&](int k) { y[k] = (a[k] - sum(1, k, [&](int j) { return b[j] * y[k - j]; })) / b[0]; });
        break;
      case Operation::sqrt:
        each([&](int k) { y[k] = k == 0 ? std::sqrt(a[0]) : (a[k] - sum(1, k - 1, [&](int j) { return y[j] * y[k - j]; })) / (2 * y[0]); });
        break;
      case Operation::exp:
        each([&](int k) { y[k] = k == 0 ? std::exp(a[0]) : sum(1, k, [&](int j) { return j * a[j] * y[k - j]; }) / k; });
        break;
      case Operation::log:
        each([&](int k) {
          y[k] = k == 0 ? std::log(a[0]) : (k * a[k] - sum(1, k - 1, [&](int j) { return j * y[j] * a[k - j]; })) / (k * a[0]);
        });
        break;
      case Operation::sine: {  // and the cosine, which comes next
        double* c = at(in.b);
        each([&](int k) {
          const double up = sum(1, k, [&](int j) { return j * a[j] * c[k - j]; }),
                       down = sum(1, k, [&](int j) { return j * a[j] * y[k - j]; });
          y[k] = k == 0 ? std::sin(a[0]) : up / k;
          c[k] = k == 0 ? std::cos(a[0]) : -down / k;
        });
        break;
      }
      case Operation::cosine:
        break;
      case Operation::power:
        each([&](int k) {
          y[k] =
              k == 0 ? std::pow(a[0], in.value) : sum(1, k, [&](int j) { return (in.value * j - (k - j)) * a[j] * y[k - j]; }) / (k * a[0]);
        });
        break;
      case Operation::arctan:
        each([&](int k) {
          y[k] = k == 0 ? std::atan(a[0]) : (k * a[k] - sum(1, k - 1, [&](int j) { return j * y[j] * b[k - j]; })) / (k * b[0]);
        });
        break;
      case Operation::stumpff: {  // Taylor's formula about a_0
        constexpr int longest = 34, count = highest_stumpff + 2 * longest;
        double c[count], power[longest];
        stumpff_values(a[0], count, c);
        const int index = int(in.value);
        each([&](int k) { y[k] = k == 0 ? c[index] : 0; });
        for (int m = 0; m < to; ++m) power[m] = m == 0;
        double scale = 1;
        for (int j = 1; j < to; ++j) {  // power = (a - a_0)^j
          for (int m = 0; m < count - 2 * j; ++m) c[m] = 0.5 * (m * c[m + 2] - c[m + 1]);
          scale /= j;
          for (int m = to - 1; m >= 0; --m) power[m] = sum(1, m, [&](int l) { return a[l] * power[m - l]; });
          each([&](int k) { y[k] += scale * c[index] * power[k]; });
        }
        break;
      }
      case Operation::piecewise: {  // p(a_0 + h) = sum of d_m h^m, by Horner's rule
        constexpr int longest = 34;
        const Piecewise& table = recording.tables[int(in.value)];
        int piece = 0;
        while (piece + 1 < table.pieces && a[0] >= table.knots[piece + 1]) ++piece;
        double d[highest_degree + 1], z[longest] = {};
        for (int m = 0; m <= table.degree; ++m) d[m] = table.coefficients[std::ptrdiff_t(piece) * (table.degree + 1) + m];
        const double offset = a[0] - table.knots[piece];
        for (int m = 0; m < table.degree; ++m)  // about a_0 instead of the knot
          for (int j = table.degree - 1; j >= m; --j) d[j] += offset * d[j + 1];
        for (int m = table.degree; m >= 0; --m) {
          for (int k = to - 1; k >= 0; --k) z[k] = sum(1, k, [&](int l) { return a[l] * z[k - l]; });
          z[0] += d[m];
        }
        each([&](int k) { y[k] = z[k]; });
        break;
      }
      case Operation::count:
        break;
    }
  }
}

JOUNCE_END
