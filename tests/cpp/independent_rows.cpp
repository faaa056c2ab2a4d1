// Which rows are independent: an orthonormal basis of rows that nearly depend on each other, and which of them it consists of.
#include "jounce/constraints/independent_rows.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "check.hpp"

using namespace jounce;

// Which of these rows make up the basis. It has room for as many as there may be, and nothing is written beyond.
void chosen(const char* what, const std::vector<std::array<double, 3>>& rows, const std::vector<bool>& expected) {
  const std::size_t m = rows.size(), most = m < 3 ? m : 3;
  std::vector<double> copy, space(3 * most + 3, 7.0);
  for (const auto& row : rows) copy.insert(copy.end(), row.begin(), row.end());
  OrthonormalRows<double> basis(3, space.data());
  bool independent[4] = {true, true, true, true};
  double squares[4];
  find_independent(std::ptrdiff_t(m), 3, copy.data(), squares, basis, independent);
  for (std::size_t r = 0; r < m; ++r) that(what, independent[r] == expected[r]);
  for (std::size_t i = 3 * most; i < space.size(); ++i) that("nothing beyond", space[i] == 7.0);
}

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
  double squares[4];
  const LeastRow least = find_independent(4, 3, rows, squares, found, independent);
  near("how many", found.count(), 2);
  that("which", independent[0] && independent[1] && !independent[2] && !independent[3]);
  that("the one of which least was left", least.row == 1 && least.left > 0.9);
  double none[3] = {};
  OrthonormalRows<double> empty(3, more);
  const LeastRow nothing = find_independent(1, 3, none, squares, empty, nullptr);
  that("of nothing, none", nothing.row == -1 && nothing.left == 1.0);

  // Rows that are longer than a register; the third depends on the others.
  const int n = 11;
  double wide[3 * n], room[3 * n + n] = {};
  for (int i = 0; i < n; ++i) wide[i] = 1 + i, wide[n + i] = std::sin(i), wide[2 * n + i] = 2.0 * wide[i] - 3.0 * wide[n + i];
  double sum = 0, of_first = 0;
  for (int i = 0; i < n; ++i) sum += wide[i] * wide[n + i], of_first += wide[i] * wide[i];
  OrthonormalRows<double> long_rows(n, room);
  near("a product", long_rows.product(wide, wide + n), sum, 1e-13);
  for (int i = 0; i < n; ++i) long_rows.next()[i] = wide[i] / std::sqrt(of_first);
  long_rows.keep(1.0);
  double off[n];
  for (int i = 0; i < n; ++i) off[i] = wide[n + i];
  near("a part", long_rows.take_off(off, 0), sum / std::sqrt(of_first), 1e-13);
  for (int i = 0; i < n; ++i) near("what is left", off[i], wide[n + i] - sum / of_first * wide[i], 1e-13);
  bool own[3];
  OrthonormalRows<double> both(n, room);
  find_independent(3, n, wide, squares, both, own);
  that("two of three long rows", both.count() == 2 && own[0] && !(own[1] && own[2]));

  // Which comes first, and how little may be left of a row.
  chosen("the first of which a tenth is left", {{1, 0, 0}, {10, 0, 0}}, {true, false});
  chosen("one of which less is left waits", {{0.999, 0, 0}, {10, 0, 0}}, {false, true});
  chosen("however small all of them are", {{1e-3, 0, 0}, {2e-3, 0, 0}}, {true, false});
  chosen("the last one, as it is the largest", {{0, 0, 1e-3}, {0, 0, 1}}, {false, true});
  chosen("only the first one", {{0, 0, 1}, {0, 0, 0}}, {true, false});
  chosen("not the first one", {{0, 0, 0}, {0, 0, 1}}, {false, true});
  chosen("what is left of others once one is taken away, the last one, too", {{1, 0, 0}, {0, 1e-3, 0}, {1, 0, 0}}, {true, true, false});
  chosen("rows that differ in their last numbers", {{1, 0, 0.5}, {1, 0, -0.5}}, {true, true});
  chosen("a first row of which nothing is left hides no other", {{0.05, 0, 0}, {10, 0, 0}, {0, 1e-3, 0}}, {false, true, true});
  chosen("a millionth is nothing", {{negligible, 0, 0}, {0, 0, 0}}, {false, false});
  chosen("a little more is not", {{1.001 * negligible, 0, 0}, {0, 0, 0}}, {true, false});
  chosen("more rows than dimensions", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}, {true, true, true, false});
  return failures;
}
