// Which rows are independent: an orthonormal basis of rows that nearly depend on each other, and which of them it consists of.
#include "jounce/constraints/independent_rows.hpp"

#include "check.hpp"

using namespace jounce;

int main() {
  // Two rows 1e-5 apart: projected once, the second would keep some 1e-11 of the first.
  double space[9] = {};
  OrthonormalRows<double> basis(3, space);
  const double first[3] = {0.3, 0.7, -0.2}, apart[3] = {1e-5, -2e-5, 3e-5};
  for (int i = 0; i < 3; ++i) basis.next()[i] = first[i];
  basis.keep(basis.project(nullptr));
  for (int i = 0; i < 3; ++i) basis.next()[i] = first[i] + apart[i];
  double parts[3] = {};
  const double left = basis.project(parts);
  basis.keep(left);
  near("rows of a basis", basis.product(basis.row(0), basis.row(1)), 0.0, 1e-15);
  near("their length", basis.product(basis.row(1), basis.row(1)), 1.0);
  near("its part along the first", parts[0] * basis.row(0)[1] + left * basis.row(1)[1], first[1] + apart[1]);

  // The third row is the difference of the others, but for a ten-millionth; the fourth is nothing.
  double rows[12] = {1, 0, 0, 1, 1, 0, 0, 1, 1e-7, 0, 0, 0}, more[9] = {};
  OrthonormalRows<double> found(3, more);
  bool independent[4];
  const LeastRow least = find_independent(4, 3, rows, found, independent);
  near("how many", found.count(), 2);
  that("which", independent[0] && independent[1] && !independent[2] && !independent[3]);
  that("the one of which least was left", least.row == 1 && least.left > 0.9);
  double none[3] = {};
  OrthonormalRows<double> empty(3, more);
  that("of nothing, none", find_independent(1, 3, none, empty, nullptr).row == -1);
  return failures;
}
