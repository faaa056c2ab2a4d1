// Arrays from Python: what was given, what was expected, and where the numbers are. NumPy's own C interface, because on a small robot
// the cost of a call is the cost of its arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL jounce_numpy_api
#ifndef JOUNCE_OWNS_NUMPY_API
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "short_list.hpp"

namespace jounce {

namespace nb = nanobind;
using Shape = ShortList<npy_intp, 8>;

std::string describe(const Shape& shape);  // "(3, 7)"
std::string quoted(nb::handle value);      // what was given, as in the errors of the Python side
[[noreturn]] void fail(const std::string& message);

// The NumPy array made of it, unless that is a masked array; `expected` says what it should have been.
nb::object array_from(nb::handle object, const std::string& name, const char* expected);

// A C-contiguous array of doubles given from Python: its last `core` dimensions are one item, the ones before are the batch.
//
// Making one may run user code (__array__), which may change arrays given earlier. So a call first makes all its Inputs, and only then
// checks them and takes pointers.
class Input {
 public:
  Input() = default;
  Input(nb::handle object, std::string name, int core);

  const nb::object& object() const { return object_; }
  const double* data() const { return static_cast<const double*>(PyArray_DATA(array())); }
  int dimensions() const { return PyArray_NDIM(array()); }
  npy_intp size(int i) const { return PyArray_DIM(array(), i < 0 ? dimensions() + i : i); }
  npy_intp total() const { return PyArray_SIZE(array()); }
  Shape shape() const { return Shape(PyArray_DIMS(array()), PyArray_DIMS(array()) + dimensions()); }
  void set_core(int core) { core_ = core; }
  int batch_dimensions() const { return dimensions() - core_; }
  Shape batch() const { return Shape(PyArray_DIMS(array()), PyArray_DIMS(array()) + batch_dimensions()); }
  const std::string& name() const { return name_; }

  void expect_dimensions() const;                             // at least the core ones
  void expect_last(npy_intp size, const char* symbol) const;  // the length of the last dimension, nq or nv
  void expect_finite() const;
  bool is_finite(std::ptrdiff_t begin, std::ptrdiff_t end) const;  // those numbers, counted through the whole array

  // The distance between the items of two successive states when the batch is broadcast to `batch`; makes a copy if no single distance
  // works.
  std::ptrdiff_t broadcast(const Shape& batch);

 private:
  PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(object_.ptr()); }
  nb::object object_;
  std::string name_;
  int core_ = 1;
};

using Inputs = ShortList<const Input*, 8>;

// The shape that the batches of all inputs broadcast to.
Shape broadcast_shape(const Inputs& inputs);
npy_intp product(const Shape& shape);

// `size` numbers per state, which begin `step` apart: a quantity and its derivatives, as many numbers each.
struct Written {
  const double* first;
  std::ptrdiff_t size, step;
  int orders = 1;
};

// A new array, or `out` when that is given and fits.
class Output {
 public:
  Output(nb::handle out, const Shape& shape);
  double* data() const { return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(object_.ptr()))); }
  nb::object object() && { return std::move(object_); }
  Written written(const Shape& batch, int orders = 1) const {
    const npy_intp states = product(batch), size = size_ == 0 || states == 1 ? size_ : size_ / states;
    return {data(), size, size, orders};
  }
  npy_intp states(const Shape& batch) const { return size_ == 0 ? 0 : product(batch); }  // 0 if there is nothing to write
  void expect_apart(const Inputs& inputs) const;                                         // an `out` that shares no memory with them

 private:
  nb::object object_;
  npy_intp size_;
  bool given_;
};

}  // namespace jounce
