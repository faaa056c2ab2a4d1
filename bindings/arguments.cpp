#include "arguments.hpp"

#include <limits>

#include "core_model.hpp"
#include "nodes.hpp"

namespace jounce {

std::string describe(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string quoted(nb::handle value) { return nb::str(nb::module_::import_("jounce._checks").attr("quoted")(value)).c_str(); }

void fail(const std::string& message) { throw nb::value_error(message.c_str()); }

nb::object array_from(nb::handle object, const std::string& name, const char* expected) {
  if (PyArray_Check(object.ptr()) && nb::hasattr(object, "mask")) fail(name + " is a masked array, expected one without a mask");
  nb::object array = nb::steal(PyArray_FROM_O(object.ptr()));
  if (!array.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_TypeError)) nb::raise_python_error();
    PyErr_Clear();
    fail(name + " must be " + expected + ", got a " + Py_TYPE(object.ptr())->tp_name + " that NumPy cannot read as one");
  }
  return array;
}

npy_intp product(const Shape& shape) {
  npy_intp n = 1;
  bool empty = false;
  for (npy_intp s : shape) {
    empty |= s == 0;
    if (s != 0 && n > std::numeric_limits<npy_intp>::max() / s)
      fail("the arguments broadcast to shape " + describe(shape) + ", which is too large");
    if (s != 0) n *= s;
  }
  return empty ? 0 : n;
}

Input::Input(nb::handle object, std::string name, int core) : name_(std::move(name)), core_(core) {
  PyObject* given = object.ptr();
  if (PyArray_CheckExact(given) && PyArray_TYPE((PyArrayObject*)given) == NPY_DOUBLE && PyArray_ISCARRAY_RO((PyArrayObject*)given)) {
    object_ = nb::borrow(object);
    return;
  }
  nb::object any = array_from(object, name_, "an array of real numbers");
  PyArrayObject* array = (PyArrayObject*)any.ptr();
  if (!PyArray_ISINTEGER(array) && !PyArray_ISFLOAT(array) && !PyArray_ISBOOL(array))
    fail(name_ + " must be an array of real numbers, got dtype " + nb::str(nb::handle((PyObject*)PyArray_DESCR(array))).c_str());
  object_ = nb::steal(PyArray_FROM_OTF(any.ptr(), NPY_DOUBLE, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_ENSUREARRAY | NPY_ARRAY_FORCECAST));
  if (!object_.is_valid()) nb::raise_python_error();
  if (PyArray_TYPE(array) == NPY_LONGDOUBLE && sizeof(npy_longdouble) > sizeof(double) && is_finite(0, total()) && !NodesWatch::again())
    nb::module_::import_("jounce._checks").attr("warn_of_long_double")(name_);
}

void Input::expect_dimensions() const {
  if (dimensions() < core_)
    fail(name_ + " has shape " + describe(shape()) + ", expected at least " + std::to_string(core_) + " dimension" +
         (core_ == 1 ? "" : "s"));
}

void Input::expect_last(npy_intp size, const char* symbol) const {
  if (this->size(-1) != size) {
    const std::string rows = core_ == 2 ? "(..., rows, " : "(..., ";
    fail(name_ + " has shape " + describe(shape()) + ", expected " + rows + std::to_string(size) + "): this model has " + symbol + " = " +
         std::to_string(size));
  }
}

bool Input::is_finite(std::ptrdiff_t begin, std::ptrdiff_t end) const { return kernels().finite(data() + begin, end - begin); }

void Input::expect_finite() const {
  const double* x = data();
  const npy_intp n = total();
  if (is_finite(0, n)) return;
  for (npy_intp i = 0; i < n; ++i)
    if (!(x[i] * 0.0 == 0)) {
      Shape index;
      for (npy_intp rest = i, d = dimensions() - 1; d >= 0; rest /= size(int(d)), --d) index.prepend(1, rest % size(int(d)));
      std::string text;
      for (npy_intp j : index) text += (text.empty() ? "" : ", ") + std::to_string(j);
      fail(name_ + "[" + text + "] is " + (x[i] != x[i] ? "nan" : x[i] > 0 ? "inf" : "-inf") + ", expected finite numbers");
    }
}

std::ptrdiff_t Input::broadcast(const Shape& batch) {
  npy_intp item = 1;
  for (int i = batch_dimensions(); i < dimensions(); ++i) item *= size(i);
  const npy_intp states = product(batch);
  if (total() == item) return 0;
  if (total() == states * item) return item;
  Shape full = batch;
  for (int i = batch_dimensions(); i < dimensions(); ++i) full.push_back(size(i));
  nb::object copy = nb::steal(PyArray_SimpleNew(int(full.size()), full.data(), NPY_DOUBLE));
  if (!copy.is_valid() || PyArray_CopyInto((PyArrayObject*)copy.ptr(), array()) != 0) nb::raise_python_error();
  object_ = std::move(copy);
  return item;
}

Shape broadcast_shape(const Inputs& inputs) {
  Shape result;
  for (const Input* input : inputs) {
    const int n = input->batch_dimensions();
    if (n > int(result.size())) result.prepend(n - result.size(), 1);
    for (int d = 0; d < n; ++d) {
      npy_intp& have = result[result.size() - 1 - d];
      const npy_intp want = input->size(n - 1 - d);
      if (have != want && have != 1 && want != 1) {
        std::string text;
        for (const Input* each : inputs) text += (text.empty() ? "" : ", ") + each->name() + " " + describe(each->shape());
        fail("the batch dimensions do not broadcast: " + text);
      }
      if (have == 1) have = want;
    }
  }
  return result;
}

Output::Output(nb::handle out, const Shape& shape) : size_(product(shape)), given_(!out.is_none() && !NodesWatch::again()) {
  if (!given_) {
    object_ = nb::steal(PyArray_SimpleNew(int(shape.size()), shape.data(), NPY_DOUBLE));
    if (!object_.is_valid()) nb::raise_python_error();
    return;
  }
  if (!PyArray_Check(out.ptr())) fail(std::string("out must be a NumPy array, got a ") + Py_TYPE(out.ptr())->tp_name);
  PyArrayObject* array = (PyArrayObject*)out.ptr();
  const Shape given(PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array));
  if (!(given == shape)) fail("out has shape " + describe(given) + ", expected " + describe(shape));
  if (PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY(array)) fail("out must be a writable C-contiguous array of float64");
  object_ = nb::borrow(out);
}

void Output::expect_apart(const Inputs& inputs) const {
  const double *begin = data(), *end = begin + size_;
  for (const Input* input : inputs)
    if (given_ && input->data() < end && begin < input->data() + input->total()) fail("out shares memory with " + input->name());
}

}  // namespace jounce
