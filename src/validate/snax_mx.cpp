// SNAX-MX (arXiv 2511.06313): what follows from its cycle rule, what was put into its description, and what that
// description says of whole training steps, of which nothing is published.
#include "base/glob.h"
#include "base/try.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/run/evaluate_network.h"
#include "validate/products.h"
#include "validate/validation.h"

#include <fmt/format.h>

#include <iterator>

namespace monet {

namespace {

struct Published {
  const char* name;
  const char* precision;
  const char* recipe;
  double gops, gops_per_watt;  // abstract
  bool assumed;                // MXFP8 and MXFP6 have a range together: which end belongs to which is not said
};
constexpr Published formats[] = {{"MXINT8", "mxint8", "mxint8-square", 64, 657, false},
                                 {"MXFP8", "mxfp8", "mxfp8-square", 256, 1438, true},
                                 {"MXFP6", "mxfp6", "mxfp6-square", 256, 1675, true},
                                 {"MXFP4", "mxfp4", "mxfp4-square", 512, 4065, false}};
constexpr const char* is_input = "an input, not a prediction";
constexpr const char* is_assumed_input =
    "an input, not a prediction; published as 1438 to 1675 for MXFP8 and MXFP6 together, this end of it is assumed";

constexpr Product deep{.rows = 8, .depth = 1 << 16, .columns = 8};

Status add_rates(RuledCore& core, Validation& validation) {
  for (const Published& format : formats) {
    MONET_TRY(const double cycles, core.cycles(deep, format.precision));
    validation.rows.push_back({fmt::format("{}, depth {}", format.name, deep.depth), "GOPS", format.gops,
                               2e-9 * deep.macs() * core.clock_hz() / cycles, ""});
  }
  for (const Published& format : formats) {
    MONET_TRY(const RuledCore::Cost cost, core.cost(deep, format.precision));
    validation.rows.push_back({fmt::format("{}, peak", format.name), "GOPS/W", format.gops_per_watt,
                               2e3 * deep.macs() / cost.pj, format.assumed ? is_assumed_input : is_input});
  }
  return Done{};
}

struct SnaxWorkload {
  const char* name;
  const char* model;
  std::int64_t batch;
};
constexpr SnaxWorkload snax_workloads[] = {{"ResNet-18", "resnet18", 8}, {"ViT-Ti/16", "vit-tiny", 8}};
constexpr std::size_t most_snax_rows = std::size(formats) * (2 + 4 * std::size(snax_workloads));

StepRequest options_of(const SnaxWorkload& workload, const Published& format, const ValidateOptions& options) {
  StepRequest how;
  how.train.batch = workload.batch;
  how.train.optimizer = "momentum";
  how.train.precision = format.recipe;
  how.machine = "snax_mx";
  how.factors = 3;  // pieces of loops that are put in every order: quicker than six
  how.compare = how.pack = how.advise = false;
  how.jobs = options.jobs;
  how.stop = options.stop;
  return how;
}

// Of the peak, while the array does the products of a step by its rule and nothing else.
Expected<double> rule_utilization(RuledCore& core, const SnaxWorkload& workload, const Published& format) {
  TrainOptions options;
  options.batch = workload.batch;
  MONET_TRY(const NetworkGraph step, open_network_as_asked(workload.model, options, true));
  double macs = 0, cycles = 0;
  for (const NodeProduct& product : products_of(step.graph)) {
    MONET_TRY(const double each, core.cycles(product.sizes, format.precision));
    cycles += each;
    macs += product.sizes.macs();
  }
  return 100 * macs / (cycles * core.peak_macs(format.precision));
}

Status add_steps(RuledCore& core, const ValidateOptions& options, Validation& validation) {
  MappingCache cache;
  for (const SnaxWorkload& workload : snax_workloads) {
    for (const Published& format : formats) {
      if (options.stop && options.stop()) return Done{};
      const std::string name = fmt::format("{} training, batch {}, {}", workload.name, workload.batch, format.name);
      if (!options.only.empty() && !matches(options.only, name)) continue;
      if (options.progress) options.progress(name, validation.rows.size(), most_snax_rows);
      MONET_TRY(const double by_rule, rule_utilization(core, workload, format));
      validation.rows.push_back(prediction(name, "% of peak in products", by_rule));
      const auto step = evaluate_network(workload.model, options_of(workload, format, options), cache);
      if (!step && options.stop && options.stop()) return Done{};
      if (!step) {
        validation.rows.push_back(
            prediction(name, "% of peak", 0, fmt::format("cannot be evaluated: {}", step.error().text())));
        continue;
      }
      validation.rows.push_back(prediction(name, "% of peak", 100 * step->utilization));
      validation.rows.push_back(prediction(name, "ms a step", 1e3 * step->latency_s));
      validation.rows.push_back(prediction(name, "mJ a step", 1e-9 * step->energy_pj));
    }
  }
  return Done{};
}

}  // namespace

Expected<Validation> validate_snax_mx(const ValidateOptions& options) {
  Validation validation{.name = "snax-mx", .rows = {}, .notes = {}, .label = "synthesis results, and predictions"};
  MONET_TRY(RuledCore core, RuledCore::open("snax_mx"));
  MONET_RETURN_IF_ERROR(add_rates(core, validation));
  MONET_RETURN_IF_ERROR(add_steps(core, options, validation));
  validation.notes = {
      "GOPS: an 8 x 8 block of results with a depth of 65,536 by the rule in presets/snax_mx.yaml, depth / rate + 1 "
      "cycles, at 500 MHz; the clock itself was inferred from these throughputs",
      "GOPS/W: published figures of synthesis and power simulation are the source of the energies in "
      "presets/snax_mx.yaml, so that they come out again",
      "GOPS/W of MXFP8 and MXFP6: published as a range for the two together, 1438 to 1675; that MXFP8 has the lower "
      "end and MXFP6 the upper is our assumption, and the energies of their steps depend on it",
      "training steps: momentum, square groups for weights, activations and gradients; % of peak in products: the "
      "array by its rule alone; % of peak, ms and mJ: the whole step with its memories and all other operators",
  };
  MONET_RETURN_IF_ERROR(keep_wanted(validation, options));
  return validation;
}

}  // namespace monet
