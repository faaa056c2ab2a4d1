// Factors of rows, some of which are combinations of others.
#include <cstdlib>
#include <vector>

#include "check.hpp"
#include "jounce/constraints/row_factors.hpp"

using namespace jounce;

int main() {
  ArenaSize size;
  RowFactors<double>(3, size);
  void* block = std::aligned_alloc(64, (size.bytes() + 63) / 64 * 64);
  Arena arena(block);
  RowFactors<double> rows(3, arena);
  rows.clear();
  // J = [1 0; 0 2; 1 2] with unit masses: the third row is the sum of the others.
  const double columns[2][8] = {{1, 0, 1}, {0, 2, 2}};
  for (const auto& column : columns) rows.add_squares(1.0, column, 0, 3);
  rows.scale(0) = 1, rows.scale(1) = 4, rows.scale(2) = 5;
  rows.factor();
  near("dependent rows", rows.dependent(), 1);
  that("the third is", rows.is_dependent(2) && !rows.is_dependent(0) && !rows.is_dependent(1));
  near("its share of the first", rows.combination(2)[0], 1.0);
  near("and of the second", rows.combination(2)[1], 1.0);
  // J J^T = [1 0 1; 0 4 4; 1 4 5]: what x leaves of the third row is 0 where the right side agrees, 1 where it contradicts.
  const auto left = [](const double* x, double wanted) { return wanted - (x[0] + 4 * x[1] + 5 * x[2]); };
  double x[8] = {3, 8, 11};
  rows.solve(x);
  near("x_0", x[0], 3.0), near("x_1", x[1], 2.0), near("x_2", x[2], 0.0), near("nothing is left", left(x, 11), 0.0);
  double y[8] = {3, 8, 12};
  rows.solve(y);
  near("what contradicts", left(y, 12), 1.0);

  // J = [1 0; 1 1; 0 3]: the third row is three times the second, less three times the first.
  rows.clear();
  const double oblique[2][8] = {{1, 1, 0}, {0, 1, 3}};
  for (const auto& column : oblique) rows.add_squares(1.0, column, 0, 3);
  rows.scale(0) = 1, rows.scale(1) = 2, rows.scale(2) = 9;
  rows.factor();
  near("less the first", rows.combination(2)[0], -3.0), near("more of the second", rows.combination(2)[1], 3.0);
  near("nothing of itself", rows.combination(2)[2], 0.0);

  // The same from the rows themselves, of which one is left out; the first is the second, less a third of the third.
  const auto again = [&](int left_out) {
    std::vector<double> space(2 * 3);
    rows.factor_again(
        OrthonormalRows<double>(2, space.data()), [&](int row) { return row != left_out; },
        [&](int row, double* to) { to[0] = oblique[0][row], to[1] = oblique[1][row]; });
    near("one is dependent", rows.dependent(), 1);
    that("the one that was left out", rows.is_dependent(left_out));
  };
  again(2);
  near("less the first, again", rows.combination(2)[0], -3.0), near("more of the second, again", rows.combination(2)[1], 3.0);
  double z[8] = {1, 3, 6};  // J J^T = [1 1 0; 1 2 3; 0 3 9], of which the first two rows decide
  rows.solve(z);
  near("z_0", z[0], -1.0), near("z_1", z[1], 2.0), near("z_2", z[2], 0.0);
  again(0);
  near("all of the second", rows.combination(0)[1], 1.0), near("less a third of the third", rows.combination(0)[2], -1.0 / 3);
  double w[8] = {0, 5, 12};
  rows.solve(w);
  near("w_0", w[0], 0.0), near("w_1", w[1], 1.0), near("w_2", w[2], 1.0);

  // J = [1 0; 1 apart], where the terms of the second row may be `larger` than what they add up to.
  const auto doubtful = [&](double apart, double larger) {
    rows.clear();
    const double pair[2][8] = {{1, 1, 0}, {0, apart, 1}};
    for (const auto& column : pair) rows.add_squares(1.0, column, 0, 3);
    rows.scale(0) = 1, rows.scale(1) = larger * (1 + apart * apart), rows.scale(2) = 2;
    rows.factor();
    return rows.doubtful();
  };
  that("a row of which a tenth is left has its digits", !doubtful(0.1, 1));
  that("one of which a thousandth is left has not", doubtful(1e-3, 1));
  that("terms may be a hundred times larger than what they add up to", !doubtful(1.0, 1e4));
  that("a hundred thousand times is too much", doubtful(1.0, 1e10));
  std::free(block);
  return failures;
}
