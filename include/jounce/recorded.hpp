// A function that was recorded as a list of elementary operations, run over Taylor series of any length.
//
// Instruction i makes value inputs + i from values before it. Each operation on series is the textbook recurrence (Griewank and
// Walther, Evaluating Derivatives, ch. 13), from which every time derivative of the function comes out along a motion.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "jounce/stumpff.hpp"

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
  count
};

// How many values before it an operation reads.
constexpr int operands(Operation op) {
  switch (op) {
    case Operation::constant:
      return 0;
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide:
    case Operation::sine:    // of a, with the value that will be cos a; the two follow each other
    case Operation::cosine:  // of a, with the value that is sin a
    case Operation::arctan:  // of a, with 1 + a^2
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

struct Recording {
  const Instruction* instructions;
  const std::int32_t* outputs;
  std::int32_t inputs, size, output_count;
};

}  // namespace jounce

JOUNCE_BEGIN

// K coefficients of every value in `x` (inputs + size, K), of which the inputs are given.
inline void replay(const Recording& recording, int K, double* x) {
  const auto at = [&](std::int32_t i) { return x + std::ptrdiff_t(i) * K; };
  for (int i = 0; i < recording.size; ++i) {
    const Instruction& in = recording.instructions[i];
    double* y = at(recording.inputs + i);
    const double *a = operands(in.op) > 0 ? at(in.a) : nullptr, *b = operands(in.op) > 1 ? at(in.b) : nullptr;
    switch (in.op) {
      case Operation::constant:
        for (int k = 0; k < K; ++k) y[k] = 0;
        y[0] = in.value;
        break;
      case Operation::add:
        for (int k = 0; k < K; ++k) y[k] = a[k] + b[k];
        break;
      case Operation::subtract:
        for (int k = 0; k < K; ++k) y[k] = a[k] - b[k];
        break;
      case Operation::scale:
        for (int k = 0; k < K; ++k) y[k] = in.value * a[k];
        break;
      case Operation::multiply:
        for (int k = 0; k < K; ++k) {
          double sum = 0;
          for (int j = 0; j <= k; ++j) sum += a[j] * b[k - j];
          y[k] = sum;
        }
        break;
      case Operation::divide:
        for (int k = 0; k < K; ++k) {
          double sum = a[k];
          for (int j = 1; j <= k; ++j) sum -= b[j] * y[k - j];
          y[k] = sum / b[0];
        }
        break;
      case Operation::sqrt:
        y[0] = std::sqrt(a[0]);
        for (int k = 1; k < K; ++k) {
          double sum = a[k];
          for (int j = 1; j < k; ++j) sum -= y[j] * y[k - j];
          y[k] = sum / (2 * y[0]);
        }
        break;
      case Operation::exp:
        y[0] = std::exp(a[0]);
        for (int k = 1; k < K; ++k) {
          double sum = 0;
          for (int j = 1; j <= k; ++j) sum += j * a[j] * y[k - j];
          y[k] = sum / k;
        }
        break;
      case Operation::log:
        y[0] = std::log(a[0]);
        for (int k = 1; k < K; ++k) {
          double sum = k * a[k];
          for (int j = 1; j < k; ++j) sum -= j * y[j] * a[k - j];
          y[k] = sum / (k * a[0]);
        }
        break;
      case Operation::sine: {  // and the cosine, which is next
        double* c = at(in.b);
        y[0] = std::sin(a[0]), c[0] = std::cos(a[0]);
        for (int k = 1; k < K; ++k) {
          double up = 0, down = 0;
          for (int j = 1; j <= k; ++j) up += j * a[j] * c[k - j], down += j * a[j] * y[k - j];
          y[k] = up / k, c[k] = -down / k;
        }
        break;
      }
      case Operation::cosine:
        break;
      case Operation::power:
        y[0] = std::pow(a[0], in.value);
        for (int k = 1; k < K; ++k) {
          double sum = 0;
          for (int j = 1; j <= k; ++j) sum += (in.value * j - (k - j)) * a[j] * y[k - j];
          y[k] = sum / (k * a[0]);
        }
        break;
      case Operation::arctan:
        y[0] = std::atan(a[0]);
        for (int k = 1; k < K; ++k) {
          double sum = k * a[k];
          for (int j = 1; j < k; ++j) sum -= j * y[j] * b[k - j];
          y[k] = sum / (k * b[0]);
        }
        break;
      case Operation::stumpff: {
        constexpr int longest = 34, count = highest_stumpff + 2 * longest;
        double c[count], power[longest], next[longest];
        stumpff_values<count>(a[0], c);
        const int index = int(in.value);
        for (int k = 0; k < K; ++k) y[k] = 0, power[k] = 0;
        y[0] = c[index], power[0] = 1;
        double scale = 1;
        for (int j = 1; j < K; ++j) {  // power = (a - a_0)^j
          for (int k = 0; k < count - 2 * j; ++k) c[k] = 0.5 * (k * c[k + 2] - c[k + 1]);
          scale /= j;
          for (int k = 0; k < K; ++k) {
            next[k] = 0;
            for (int m = 1; m <= k; ++m) next[k] += a[m] * power[k - m];
          }
          for (int k = 0; k < K; ++k) power[k] = next[k], y[k] += scale * c[index] * power[k];
        }
        break;
      }
      case Operation::count:
        break;
    }
  }
}

JOUNCE_END
