// inspect.signature for the compiled functions, and with it help(), completion and the tooltips of notebooks.
//
// nanobind keeps the signature of a function in __nb_signature__; Python's inspect looks for __signature__. Here the two types
// of nanobind's functions and that of its bound methods get such a property. It is computed when asked for, by
// jounce._signatures, and costs calls nothing.
#include "bind.hpp"

namespace jounce {
namespace {

PyObject* signature(PyObject* function, void*) {
  PyObject* module = PyImport_ImportModule("jounce._signatures");
  if (module == nullptr) {  // the core alone, as when its stub is made
    PyErr_Format(PyExc_AttributeError, "__signature__");
    return nullptr;
  }
  PyObject* found = PyObject_CallMethod(module, "of", "O", function);
  Py_DECREF(module);
  return found;
}

PyGetSetDef property{"__signature__", signature, nullptr, "Of type inspect.Signature.", nullptr};

void describe(PyTypeObject* type) {
  nb::object descriptor = nb::steal(PyDescr_NewGetSet(type, &property));
  if (!descriptor || PyDict_SetItemString(type->tp_dict, property.name, descriptor.ptr()) != 0) nb::raise_python_error();
  PyType_Modified(type);
}

}  // namespace

void bind_signatures(nb::module_& m, nb::class_<CoreModel>& c) {
  nb::object method = c.attr("integrate"), bound = method.attr("__get__")(m);
  for (const nb::object& each : {nb::object(m.attr("num_threads")), method, bound}) describe(Py_TYPE(each.ptr()));
}

}  // namespace jounce
