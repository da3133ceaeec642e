// The module monet._core: the library's functions as Python calls them. Thin: results pass as JSON text, which the
// package turns into objects.
#pragma once

#include <monet/expected.h>

#include <nanobind/nanobind.h>

namespace monet::python {

// Raises monet.Error with all parts of `error`. Requires the interpreter's lock.
[[noreturn]] void raise(const Error& error);

// The value of work(), which runs without the interpreter's lock; its error is raised. For what is short: see Call.
template <class Work>
auto without_lock(const Work& work) {
  auto result = [&] {
    const nanobind::gil_scoped_release unlocked;
    return work();
  }();
  if (!result) raise(result.error());
  return *std::move(result);
}

void bind_values(nanobind::module_& module);
void bind_network(nanobind::module_& module);
void bind_hardware(nanobind::module_& module);
void bind_options(nanobind::module_& module);
void bind_functions(nanobind::module_& module);
void bind_evaluate(nanobind::module_& module);
void bind_search(nanobind::module_& module);
void bind_explore(nanobind::module_& module);
void bind_precision(nanobind::module_& module);
void bind_report(nanobind::module_& module);
void bind_tools(nanobind::module_& module);

}  // namespace monet::python
