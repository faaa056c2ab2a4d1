// Numbers of twice the digits: against values known to 50 digits, and identities that doubles do not fulfil.
#include "jounce/ring/double_double.hpp"

#include "check.hpp"

using namespace jounce;

// How far x is from the number whose first two doubles these are, relative.
double off(const DoubleDouble& x, double high, double low) {
  const DoubleDouble error = (x - DoubleDouble(high, low)) / DoubleDouble(high);
  return std::fabs(error.high);
}

int main() {
  const DoubleDouble one = 1.0, small = 0x1p-60, third = one / 3.0;
  that("a sum keeps both", ((one + small) - one).high == 0x1p-60);
  that("a difference of squares", ((one + 0x1p-50) * (one - 0x1p-50) - one).high == -0x1p-100);
  that("a third", off(third, 0x1.5555555555555p-2, 0x1.5555555555555p-56) < 1e-31);
  that("three of them", std::fabs((third * 3.0 - 1.0).high) < 1e-31);
  that("a quotient", std::fabs((DoubleDouble(2.0) / third - 6.0).high) < 1e-30);
  that("the root of 2", off(square_root(DoubleDouble(2.0)), 0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54) < 1e-31);
  that("the root of 0", square_root(DoubleDouble(0.0)).high == 0);
  that("order", third < one && one > third && one + small > one && !(one < one));
  that("what is beyond all doubles", !(std::fabs((DoubleDouble(1e200) * 1e200).high) < 1e308));

  DoubleDouble s, c;
  sincos(1.0, s, c);
  that("sin 1", off(s, 0x1.aed548f090ceep-1, 0x1.06374f484e288p-59) < 1e-30);
  that("cos 1", off(c, 0x1.14a280fb5068cp-1, -0x1.b71edcc9344bcp-55) < 1e-30);
  for (double angle = -60; angle < 60; angle += 0.37) {
    sincos(angle, s, c);
    near("sin", s.high, std::sin(angle)), near("cos", c.high, std::cos(angle));
    that("sin^2 + cos^2", std::fabs((s * s + c * c - 1.0).high) < 1e-30);
  }
  sincos(1e5, s, c);
  near("of a large angle", s.high, std::sin(1e5));
  return failures;
}
