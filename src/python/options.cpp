// Options by the names of the command line with _ for -; those of the training step stand beside the others.
#include "options/explore.h"
#include "options/fuse.h"
#include "options/plans.h"
#include "options/remat.h"
#include "options/step.h"
#include "python/bindings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace monet::python {

namespace {

// Takes limits, and leaves them to the library.
struct BoundOption {
  template <class Number>
  BoundOption within(Number, Number) const {
    return *this;
  }
  BoundOption whole() const { return *this; }
  BoundOption positive() const { return *this; }
  BoundOption one_of(const std::vector<std::string>&) const { return *this; }
  BoundOption such_as(const std::vector<std::string>&) const { return *this; }
  BoundOption each_once() const { return *this; }
  BoundOption with_default() const { return *this; }
};

// Options of a struct that is a class of Python.
template <class Options>
class Attributes {
 public:
  explicit Attributes(nb::class_<Options>& in_python) : class_(in_python) {}

  void title(const char*) const {}
  // `Part`: the struct, or what it is derived from.
  template <class Part, class Value>
  BoundOption option(const OptionName& name, Value Part::* member, const std::string&, const char* = nullptr) const {
    class_.def_rw(name.python, member);
    return {};
  }
  template <class Part, class Value>
  BoundOption option(const OptionName& name, std::optional<Value> Part::* member, const std::string&,
                     const char* = nullptr) const {
    class_.def_rw(name.python, member, nb::for_setter(nb::arg("value").none()));
    return {};
  }
  template <class Part>
  BoundOption flag(const OptionName& name, bool Part::* member, const char*) const {
    return option(name, member, "");
  }
  template <class Part>
  BoundOption off(const OptionName& name, bool Part::* member, const char*) const {
    return option(name, member, "");
  }
  // None: no limit, which the library writes as `none`.
  BoundOption time_limit(double Options::* member, double none, const char*) const {
    class_.def_prop_rw(
        "time_limit",
        [member, none](const Options& self) {
          return self.*member == none ? std::optional<double>() : std::optional(self.*member);
        },
        [member, none](Options& self, std::optional<double> seconds) { self.*member = seconds.value_or(none); },
        nb::for_setter(nb::arg("value").none()));
    return {};
  }

 private:
  nb::class_<Options>& class_;
};

using Request = nb::class_<StepRequest>;

// Options of StepRequest::train as its own.
class TrainAttributes {
 public:
  explicit TrainAttributes(Request& request) : request_(request) {}

  void title(const char*) const {}
  template <class Value>
  BoundOption option(const OptionName& name, Value TrainOptions::* member, const std::string&, const char* = nullptr) {
    names_.append(name.python);
    request_.def_prop_rw(
        name.python, [member](const StepRequest& self) { return self.train.*member; },
        [member](StepRequest& self, Value value) { self.train.*member = std::move(value); },
        nb::for_setter(nb::arg("value").none()));
    return {};
  }
  BoundOption flag(const OptionName& name, bool TrainOptions::* member, const char*) {
    return option(name, member, "");
  }

  const nb::list& names() const { return names_; }

 private:
  Request& request_;
  nb::list names_;
};

// The names of options alone.
class Names {
 public:
  void title(const char*) const {}
  template <class Member>
  BoundOption option(const OptionName& name, Member, const std::string&, const char* = nullptr) {
    names_.append(name.python);
    return {};
  }
  template <class Member>
  BoundOption flag(const OptionName& name, Member member, const char*) {
    return option(name, member, "");
  }
  template <class Member>
  BoundOption off(const OptionName& name, Member member, const char*) {
    return option(name, member, "");
  }

  const nb::list& names() const { return names_; }

 private:
  nb::list names_;
};

// Which of the options of a step on a machine a search takes.
void name_options_of_searches(nb::module_& module) {
  Names of_fuse, of_others;
  describe_schedule(of_fuse);
  describe_mapping_effort<StepRequest>(of_fuse);
  describe_searched_step(of_others);
  module.attr("FUSE_STEP_OPTIONS") = of_fuse.names();
  module.attr("SEARCH_STEP_OPTIONS") = of_others.names();
}

void bind_step(nb::module_& module) {
  Request request(module, "StepRequest", "As `monet evaluate` takes them.");
  request.def(nb::init<>());
  TrainAttributes of_step(request);
  describe_sizes<TrainOptions>(of_step);
  describe_step(of_step);
  of_step.option("precision", &TrainOptions::precision, "");
  module.attr("STEP_OPTIONS") = of_step.names();
  Attributes options(request);
  describe_mapping_search<StepRequest>(options);
  describe_schedule(options);
  describe_parallel(options);
  describe_evaluation(options);
  // What the package sets by arguments of functions.
  request.def_rw("inference", &StepRequest::inference)
      .def_rw("machine", &StepRequest::machine)
      .def_rw("plan", &StepRequest::plan)
      .def_rw("suggest_up_to", &StepRequest::suggest_up_to)
      .def_rw("trace", &StepRequest::trace)
      .def_rw("lifetimes", &StepRequest::lifetimes)
      .def_rw("graph", &StepRequest::graph);
}

template <class Options>
nb::class_<Options> options_class(nb::module_& module, const char* name, const char* meaning) {
  nb::class_<Options> made(module, name, meaning);
  made.def(nb::init<>());
  return made;
}

void bind_plan_searches(nb::module_& module) {
  auto fuse = options_class<FuseOptions>(module, "FuseOptions", "As `monet fuse` takes them.");
  fuse.def_rw("evaluate", &FuseOptions::step);
  Attributes of_fuse(fuse);
  describe_fuse(of_fuse);
  auto checkpoint = options_class<CheckpointOptions>(module, "CheckpointOptions", "As `monet checkpoint` takes them.");
  checkpoint.def_rw("evaluate", &CheckpointOptions::evaluate);
  Attributes of_checkpoint(checkpoint);
  describe_checkpoint(of_checkpoint);
  auto optimize = options_class<OptimizeOptions>(module, "OptimizeOptions", "As `monet optimize` takes them.");
  optimize.def_rw("evaluate", &OptimizeOptions::evaluate);
  Attributes of_optimize(optimize);
  describe_optimize(of_optimize);
}

void bind_explore_options(nb::module_& module) {
  auto explore = options_class<ExploreOptions>(module, "ExploreOptions", "As `monet explore` takes them.");
  explore.def_rw("space", &ExploreOptions::space)
      .def_rw("network", &ExploreOptions::network)
      .def_rw("batch", &ExploreOptions::batch)
      .def_rw("method", &ExploreOptions::method)
      .def_rw("samples", &ExploreOptions::samples)
      .def_rw("objectives", &ExploreOptions::objectives);
  Attributes to(explore);
  describe_explore_search(to);
  describe_explore_work(to);
}

// The command line reads sizes and times with units; here they are numbers.
void bind_remat_options(nb::module_& module) {
  auto remat = options_class<RematOptions>(module, "RematOptions", "As `monet remat` takes them.");
  Attributes to(remat);
  describe_remat_graph(to);
  describe_remat_costs(to);
  describe_remat_search(to);
  to.option("budget_fraction", &RematOptions::budget_fraction, "");
  to.option("budget_bytes", &RematOptions::budget_bytes, "");
  to.option("fixed_bytes", &RematOptions::fixed_bytes, "");
  to.option("page_bytes", &RematOptions::page_bytes, "");
  to.option("deadline_factor", &RematOptions::deadline_factor, "");
  to.option("deadline", &RematOptions::deadline, "");
}

}  // namespace

void bind_options(nb::module_& module) {
  bind_step(module);
  name_options_of_searches(module);
  bind_plan_searches(module);
  bind_explore_options(module);
  bind_remat_options(module);
}

}  // namespace monet::python
