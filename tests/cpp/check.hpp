// A minimal vocabulary to test headers without a library: near(what, found, expected) complains, and the program fails at the end.
#pragma once

#include <cmath>
#include <cstdio>

inline int failures = 0;

inline void that(const char* what, bool holds) {
  if (holds) return;
  ++failures;
  std::printf("%s does not hold\n", what);
}

inline void near(const char* what, double found, double expected, double error = 1e-14) {
  if (std::fabs(found - expected) <= error * std::fmax(1.0, std::fabs(expected))) return;
  ++failures;
  std::printf("%s is %.17g, expected %.17g\n", what, found, expected);
}
