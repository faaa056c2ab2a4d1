// The peak of one core: fused multiply-adds in registers, and loads from the nearest cache, with the widest registers available.
// Compiled for the machine it runs on.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "jounce/ring/pack.hpp"

using namespace jounce;

namespace {

using P = Pack<native_width>;
constexpr int chains = 12, length = 20000;  // enough independent ones that none has to wait for another

// Nanoseconds, the best of many runs.
template <class F>
double nanoseconds(F f) {
  double best = 1e30;
  for (int sample = 0; sample < 500; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best * 1e9;
}

volatile double keep;  // anything written here counts as used

double total(const P (&sum)[chains]) {
  double all = 0;
  for (const P& s : sum) all += s[0];
  return all;
}

double multiply_adds() {
  return nanoseconds([] {
           P sum[chains];
           unroll<chains>([&](auto j) { sum[j] = P(1.0 + j); });
           const P x(0.999999), y(1e-6);
           for (int i = 0; i < length; ++i) unroll<chains>([&](auto j) JOUNCE_LAMBDA_INLINE { sum[j] = sum[j] * x + y; });
           keep = total(sum);
         }) /
         (length * chains);
}

double multiply_adds_of_loads() {
  alignas(64) static volatile double numbers[chains * native_width];  // volatile: loaded each time
  return nanoseconds([] {
           P sum[chains];
           unroll<chains>([&](auto j) { sum[j] = P(0.0); });
           for (int i = 0; i < length; ++i)
             unroll<chains>([&](auto j) JOUNCE_LAMBDA_INLINE {
               sum[j] += P(*reinterpret_cast<const volatile P::V*>(numbers + j * native_width)) * P(0.5);
             });
           keep = total(sum);
         }) /
         (length * chains);
}

}  // namespace

int main() {
  const double alone = multiply_adds(), loaded = multiply_adds_of_loads();
  std::printf("registers of %d doubles, one core\n", native_width);
  std::printf("multiply-adds in registers        %.3f ns each, %5.1f GFlop/s\n", alone, 2 * native_width / alone);
  std::printf("with one operand from the cache   %.3f ns each, %5.1f GFlop/s\n", loaded, 2 * native_width / loaded);
}
