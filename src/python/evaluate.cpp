#include "evaluate/run/fields.h"
#include "python/functions.h"

#include <monet/evaluate.h>
#include <monet/report.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <sstream>

namespace nb = nanobind;

namespace monet::python {

namespace {

// A table by columns.
template <class Row>
class Columns {
 public:
  explicit Columns(const std::vector<Row>& rows) : rows_(rows) {}

  // `value`: a member, or a function of a row.
  template <class Value>
  Columns& add(const char* name, const Value& value) {
    nb::list column;
    for (const Row& row : rows_) column.append(nb::cast(std::invoke(value, row)));
    table_[name] = column;
    return *this;
  }
  nb::dict table() { return table_; }

 private:
  const std::vector<Row>& rows_;
  nb::dict table_;
};

nb::dict trace_of(const Evaluation& evaluation) {
  return Columns(evaluation.trace)
      .add("track", &TraceEvent::track)
      .add("name", label_of)
      .add("kind", &TraceEvent::kind)
      .add("start", &TraceEvent::start)
      .add("end", &TraceEvent::end)
      .add("bytes", &TraceEvent::bytes)
      .add("cause", [&](const TraceEvent& event) { return cause_of(event, evaluation); })
      .add("operator_row", &TraceEvent::operator_row)
      .add("part", &TraceEvent::part)
      .add("critical", &TraceEvent::critical)
      .table();
}

nb::dict lifetimes_of(const Evaluation& evaluation) {
  nb::dict table;
  const Lifetime none;
  for_each_field(none, [&](const Field& field, const auto&) { table[field.name] = nb::list(); });
  for (const Lifetime& row : evaluation.lifetimes) {
    for_each_field(row, [&](const Field& field, const auto& value) {
      nb::cast<nb::list>(table[field.name]).append(nb::cast(value));
    });
  }
  return table;
}

nb::bytes chakra_of(const Evaluation& evaluation) {
  std::ostringstream out;
  {
    const nb::gil_scoped_release unlocked;
    write_chakra(evaluation, out);
  }
  return nb::bytes(out.view().data(), out.view().size());
}

}  // namespace

void bind_evaluate(nb::module_& module) {
  nb::class_<Evaluation>(module, "Evaluation", "A step on a machine, in time.")
      .def("to_json", [](const Evaluation& self) { return to_json(self); })
      .def(
          "to_text",
          [](const Evaluation& self, std::size_t operators, std::size_t tensors) {
            return to_text(self, {.operators = operators, .tensors = tensors}).plain();
          },
          nb::arg("operators"), nb::arg("tensors"))
      .def("to_csv", [](const Evaluation& self) { return to_csv(self); })
      .def("to_lifetimes_csv", [](const Evaluation& self) { return to_lifetimes_csv(self); })
      .def("to_trace", [](const Evaluation& self) { return to_trace(self); })
      .def("to_chakra", &chakra_of)
      .def("to_details", [](const Evaluation& self) { return to_details(self); })
      .def("page", [](const Evaluation& self) { return without_lock([&] { return report_page(self); }); })
      .def("trace", &trace_of)
      .def("lifetimes", &lifetimes_of)
      .def_ro("plan_yaml", &Evaluation::plan_yaml);
  module.def(
      "evaluate",
      [](const Network& network, const StepRequest& given, const nb::dict& costs, nb::object progress) {
        Call call(std::move(progress));
        StepRequest options = given;  // another thread may change them meanwhile
        options.custom_costs = custom_costs(call, costs);
        options.stop = call.stop();
        options.progress = call.progress();
        return call.run([&] { return evaluate_network(network, options); });
      },
      nb::arg("network"), nb::arg("options"), nb::arg("costs"), nb::arg("progress").none());
}

}  // namespace monet::python
