#include <algorithm>
#include <vector>

#include "bind.hpp"
#include "kernels/soft.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {
namespace {

constexpr const char* signature =
    "def _sections(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], "
    "numpy.typing.NDArray[numpy.float64]]";
constexpr const char* doc = R"(How the sections of soft bodies move in their near ends, at one state q (nq,) with a stack v (K, nv).

Their poses (sections, 4, 4), and their screws with K derivatives, (K + 1, sections, 6, nv): the twist of a section, in its own
axes, is its screws times v.
)";

nb::tuple sections(const CoreModel& model, nb::handle q_, nb::handle v_) {
  const Tree& tree = model.tree();
  const Input q(q_, "q", 1), v(v_, "v", 2);
  q.expect_dimensions();
  q.expect_last(tree.nq, "nq");
  q.expect_finite();
  expect_stack(tree, v, 1, highest_order + 2, "v, dv/dt, ...");
  if (q.dimensions() != 1 || v.dimensions() != 2)
    fail("q and v have shapes " + describe(q.shape()) + " and " + describe(v.shape()) + ", expected those of one state");
  const int rows = int(v.size(-2)), orders = rows + 1, count = tree.section_count;
  Output pose(nb::none(), Shape{count, 4, 4}), screws(nb::none(), Shape{orders, count, 6, tree.nv});
  std::fill_n(pose.data(), 16 * count, 0.0);
  std::fill_n(screws.data(), std::ptrdiff_t(orders) * count * 6 * tree.nv, 0.0);
  if (!tree.soft) return nb::make_tuple(std::move(pose).object(), std::move(screws).object());

  ArenaSize size;
  SectionTables<double>::allocate(tree, orders, false, size);
  std::vector<double> rate(std::size_t(orders) * tree.slots);  // of the slots; only those of shapes are read
  for (int k = 0; k < rows; ++k)
    for (int j = 0; j < tree.nv; ++j) rate[std::size_t(k) * tree.slots + j] = factorial.inverse[k] * v.data()[std::size_t(k) * tree.nv + j];
  for_each_part(1, 0.0, size.bytes(), [&](std::ptrdiff_t, std::ptrdiff_t, void* workspace) {
    Arena arena(workspace);
    auto tables = SectionTables<double>::allocate(tree, orders, false, arena);
    tables.fill(tree, orders, q.data(), rate.data(), tree.slots);
    for (int i = 0; i < tree.size; ++i) {
      const Body& b = tree.bodies[i];
      if (b.joint != Joint::section) continue;
      const double* place = tables.pose + 12 * b.q;
      double* out = pose.data() + 16 * b.q;
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) out[4 * r + c] = place[3 * r + c];
        out[4 * r + 3] = place[9 + r];
      }
      out[15] = 1;
      for (int c = 0; c < b.count; ++c)
        for (int r = 0; r < 6; ++r)
          for (int k = 0; k < orders; ++k)
            screws.data()[((std::ptrdiff_t(k) * count + b.q) * 6 + r) * tree.nv + b.column + c] =
                factorial.value[k] * tables.series(b.screw + c, r)[k];
    }
  });
  return nb::make_tuple(std::move(pose).object(), std::move(screws).object());
}

}  // namespace

void bind_sections(nb::class_<CoreModel>& c) { c.def("_sections", &sections, any("q"), any("v"), nb::sig(signature), doc); }

}  // namespace jounce
