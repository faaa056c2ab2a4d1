#include "jounce/motion/configuration.hpp"

#include "answers.hpp"
#include "bind.hpp"
#include "docs.hpp"

namespace jounce {
namespace {

// f(tree, a, b, out) for each state, with `item` numbers out.
template <class F>
nb::object for_each_pair(const char* what, const Tree& tree, Input& a, Input& b, int item, const F& f) {
  const Inputs inputs{&a, &b};
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  shape.push_back(item);
  Output out(nb::none(), shape);
  const std::ptrdiff_t a_step = a.broadcast(batch), b_step = b.broadcast(batch);
  Answers(what, batch, {}, {out.written(batch)})
      .run(0.01 * double(tree.size + 1), 0,
           [&, a = a.data(), b = b.data(), result = out.data()](std::ptrdiff_t begin, std::ptrdiff_t end, void*) {
             for (std::ptrdiff_t i = begin; i < end; ++i) f(tree, a + i * a_step, b + i * b_step, result + i * item);
           });
  return std::move(out).object();
}

// Checked, as an array of doubles.
nb::object configuration(const CoreModel& model, nb::handle q_) {
  const Input q(q_, "q", 1);
  expect_configuration(model.tree(), q);
  return q.object();
}

nb::object integrate_all(const CoreModel& model, nb::handle q_, nb::handle dv_) {
  Input q(q_, "q", 1), dv(dv_, "dv", 1);
  expect_configuration(model.tree(), q);
  expect_velocity(model.tree(), dv);
  return for_each_pair("integrate", model.tree(), q, dv, model.tree().nq, integrate);
}

nb::object difference_all(const CoreModel& model, nb::handle q0_, nb::handle q1_) {
  Input q0(q0_, "q0", 1), q1(q1_, "q1", 1);
  expect_configuration(model.tree(), q0);
  expect_configuration(model.tree(), q1);
  return for_each_pair("difference", model.tree(), q0, q1, model.tree().nv, difference);
}

}  // namespace

void bind_configuration(nb::class_<CoreModel>& c) {
  c.def("_configuration", &configuration, any("q"),
        nb::sig("def _configuration(self, q: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]"));
  c.def("integrate", &integrate_all, any("q"), any("dv"), nb::sig(integrate_signature), integrate_doc);
  c.def("difference", &difference_all, any("q0"), any("q1"), nb::sig(difference_signature), difference_doc);
}

}  // namespace jounce
