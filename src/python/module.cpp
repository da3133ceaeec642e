#include "python/bindings.h"

#include <monet/version.h>

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace monet::python {

namespace {

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::user: return "user";
    case ErrorKind::infeasible: return "infeasible";
    case ErrorKind::defect: break;
  }
  return "defect";
}

}  // namespace

void raise(const Error& error) {
  const nb::object type = nb::module_::import_("monet.errors").attr("Error");
  const nb::object value = type(error.message, nb::arg("kind") = name_of(error.kind), nb::arg("place") = error.place,
                                nb::arg("advice") = error.advice);
  PyErr_SetObject(type.ptr(), value.ptr());
  throw nb::python_error();
}

}  // namespace monet::python

NB_MODULE(_core, module) {
  module.doc() = "The library itself; use the package monet.";
  module.attr("version") = std::string(monet::version);
  monet::python::bind_values(module);
  monet::python::bind_network(module);
  monet::python::bind_hardware(module);
  monet::python::bind_options(module);
  monet::python::bind_functions(module);
  monet::python::bind_evaluate(module);
  monet::python::bind_search(module);
  monet::python::bind_explore(module);
  monet::python::bind_precision(module);
  monet::python::bind_report(module);
  monet::python::bind_tools(module);
}
