// A number of twice the digits: the unevaluated sum of two doubles, the second at most half a unit in the last place of the first.
//
// It is a coefficient type like double: an algorithm that is written over T, and loses digits in doubles, is run again over this one. An
// operation costs some twenty of doubles. Sums and products are those of Joldes, Muller, Popescu (ACM Trans. Math. Softw. 44, 2017,
// algorithms 6, 12 and 15), whose relative errors are below 3 2^-106, 5 2^-106 and 10 2^-106.
#pragma once

#include "jounce/ring/config.hpp"

JOUNCE_BEGIN

struct DoubleDouble {
  double high, low;

  DoubleDouble() = default;
  JOUNCE_HD constexpr DoubleDouble(double x) : high(x), low(0) {}
  JOUNCE_HD constexpr DoubleDouble(double more, double rest) : high(more), low(rest) {}

  // As if this were a Pack of one.
  static JOUNCE_HD DoubleDouble load(const double* p) { return {p[0], p[1]}; }
  static JOUNCE_HD DoubleDouble load(const DoubleDouble* p) { return *p; }
  JOUNCE_HD void store(double* p) const { p[0] = high, p[1] = low; }
  JOUNCE_HD void store(DoubleDouble* p) const { *p = *this; }

  friend JOUNCE_HD DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble s = sum(a.high, b.high), t = sum(a.low, b.low), u = ordered_sum(s.high, s.low + t.high);
    return ordered_sum(u.high, t.low + u.low);
  }
  friend JOUNCE_HD DoubleDouble operator-(const DoubleDouble& a) { return {-a.high, -a.low}; }
  friend JOUNCE_HD DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }
  friend JOUNCE_HD DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const double whole = a.high * b.high;
    const double rest = std::fma(a.high, b.high, -whole) + std::fma(a.low, b.high, std::fma(a.high, b.low, a.low * b.low));
    return finite_sum(whole, rest);
  }
  friend JOUNCE_HD DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.high / b.high;
    const DoubleDouble left = a - b * first;
    const double second = left.high / b.high;
    return finite_sum(first, second + (left - b * second).high / b.high);
  }
  JOUNCE_HD DoubleDouble& operator+=(const DoubleDouble& b) { return *this = *this + b; }
  JOUNCE_HD DoubleDouble& operator-=(const DoubleDouble& b) { return *this = *this - b; }
  JOUNCE_HD DoubleDouble& operator*=(const DoubleDouble& b) { return *this = *this * b; }
  JOUNCE_HD DoubleDouble& operator/=(const DoubleDouble& b) { return *this = *this / b; }

  friend JOUNCE_HD bool operator==(const DoubleDouble& a, const DoubleDouble& b) { return a.high == b.high && a.low == b.low; }
  friend JOUNCE_HD bool operator<(const DoubleDouble& a, const DoubleDouble& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
  friend JOUNCE_HD bool operator>(const DoubleDouble& a, const DoubleDouble& b) { return b < a; }

 private:
  // a + b, exactly; the second one for |a| >= |b|.
  static JOUNCE_HD DoubleDouble sum(double a, double b) {
    const double s = a + b, of_a = s - b, of_b = s - of_a;
    return {s, (a - of_a) + (b - of_b)};
  }
  static JOUNCE_HD DoubleDouble ordered_sum(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
  }
  // The same where what is beyond all doubles stays infinite.
  static JOUNCE_HD DoubleDouble finite_sum(double a, double b) {
    const DoubleDouble y = ordered_sum(a, b);
    return y.low == y.low ? y : DoubleDouble(a);
  }
};

JOUNCE_INLINE double rounded(double x) { return x; }
JOUNCE_INLINE double rounded(const DoubleDouble& x) { return x.high; }

JOUNCE_INLINE double square_root(double x) { return std::sqrt(x); }
inline DoubleDouble square_root(const DoubleDouble& x) {
  const double root = std::sqrt(x.high);
  if (!(root > 0)) return root;
  return DoubleDouble(root) + (x - DoubleDouble(root) * root).high / (2 * root);
}

// pi / 2 in four doubles.
inline constexpr double half_pi[4] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110, 0x1.4cf98e804177dp-164};

// By the Taylor series of what is left of the angle beyond multiples of pi / 2.
inline void sincos(const DoubleDouble& x, DoubleDouble& sine, DoubleDouble& cosine) {
  if (!(std::fabs(x.high) < 1e9)) {  // of such angles a double has no more than six digits beyond whole turns
    sine = std::sin(x.high), cosine = std::cos(x.high);
    return;
  }
  const double turns = std::round(x.high / half_pi[0]);
  DoubleDouble y = x;
  for (double part : half_pi) y -= DoubleDouble(turns) * part;
  DoubleDouble s = y, c(1.0), term(1.0);  // y^k / k!
  for (int k = 1; k < 30; ++k) {
    term = term * y / double(k);
    const DoubleDouble signed_term = (k / 2) % 2 == 0 ? term : -term;
    if (k % 2 == 0)
      c += signed_term;
    else if (k > 1)
      s += signed_term;
  }
  const int quadrant = int(turns - 4 * std::floor(turns / 4));
  const bool odd = quadrant % 2 == 1;
  sine = odd ? c : s, cosine = odd ? s : c;
  if (quadrant >= 2) sine = -sine;
  if (quadrant == 1 || quadrant == 2) cosine = -cosine;
}

JOUNCE_END
