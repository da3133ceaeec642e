#include "cli/arguments.h"

#include <fmt/format.h>

#include <charconv>

namespace monet::cli {

namespace {

// "0-10,11-21"
std::vector<std::pair<std::int64_t, std::int64_t>> parse_ranges(const std::string& text) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto wrong = [&] {
    return CLI::ValidationError("--stacks",
                                fmt::format("'{}' is not FIRST-LAST, ..., as in --stacks 0-10,11-21", text));
  };
  for (;;) {
    auto& [first, last] = ranges.emplace_back();
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != '-') throw wrong();
    read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc()) throw wrong();
    if (read.ptr == end) return ranges;
    if (*read.ptr != ',') throw wrong();
    at = read.ptr + 1;
  }
}

void add_fuse_rules(CLI::App& fuse, FuseOptions& options) {
  const OptionGroup group(fuse, "Rules");
  const auto number = [&](const char* name, std::int64_t& value, const char* meaning) {
    group.add(name, value, meaning, "N")->check(check_whole_number)->capture_default_str();
  };
  number("--limit", options.limit, "operators of a stack");
  group
      .add("--rules", options.rules,
           "own, or published: Sum, Gather, Pad do not count as operators, and weights have 8 bits", "WHOSE")
      ->check(such_as({"own", "published"}))
      ->capture_default_str();
  number("--max-conv", options.convolutions, "convolutions of a stack");
  number("--max-transposed", options.transposed, "transposed convolutions of a stack");
  number("--max-products", options.products, "matrix products and gradients of weights of a stack");
  number("--max-conv-with-product", options.convolutions_with_product, "convolutions of both kinds beside a product");
  number("--max-leaving", options.leaving, "operators of a stack whose results are read outside");
  group.off("--any-tilings", options.divisible_tilings, "tilings of a stack's operators need not divide each other");
  group.off("--any-weights", options.weights_fit, "weights of a stack need not fit the cores' memories at once");
  fuse.add_option_function<std::string>(
          "--stacks", [&options](const std::string& text) { options.stacks = parse_ranges(text); },
          "these stacks by numbers of operators, the rest single; only their tiles are searched")
      ->type_name("A-B,C-D")
      ->group("Rules");
}

void add_fuse_search(CLI::App& fuse, FuseOptions& options) {
  const OptionGroup group(fuse, "Search");
  group.off("--no-tiles", options.tiles, "cut no operator into tiles");
  group.off("--no-improve", options.improve, "leave out improvement on evaluations of the whole step");
  group.add("--effort", options.effort, "of improvement", "X")->capture_default_str();
  group.add("--time-limit", options.time_limit_s, "stop after so long, with the best so far; none by default",
            "SECONDS");
  group.add("--max-candidates", options.max_candidates, "sets that are looked at", "N")
      ->check(check_whole_number)
      ->capture_default_str();
  group.off("--no-dominance", options.dominance, "keep sets that cost no less than their parts");
  group.off("--no-decompose", options.decompose, "solve all of the step at once");
  group.off("--no-repeat", options.repeat, "solve parts of equal content each time anew");
  group.off("--no-dynamic", options.dynamic, "solve every part as an integer program");
  group.off("--no-lift", options.lift, "forbid rings of stacks one by one");
  group.add("--factors", options.step.factors, "pieces of loops that are put in every order", "N")
      ->check(CLI::Range(1, 12))
      ->capture_default_str();
  group.add("--cache", options.step.cache_file, "keep mappings in this file, and use those in it", "FILE");
  group.add_jobs(options.step.jobs);
}

}  // namespace

void add_fuse(CLI::App& app, FuseCommand& command) {
  FuseOptions& options = command.options;
  CLI::App* fuse =
      app.add_subcommand("fuse", "layers fused into stacks, over the whole training step, with their tiles");
  add_model(*fuse, command.model, options.step.train);
  add_machine(*fuse, command.on, options.step.train);
  fuse->add_flag("--inference", options.step.inference, "the forward part alone");
  fuse->add_option("--objective", options.objective,
                   "sets (the fewest), traffic (the least between stacks), latency, energy or edp")
      ->check(such_as({"sets", "traffic", "latency", "energy", "edp"}))
      ->type_name("WHAT")
      ->capture_default_str();
  fuse->add_option("-o,--output", command.output, "write the plan, for monet evaluate --plan")->type_name("PLAN");
  fuse->add_option("--show", command.show, "stacks in the table; 0: all")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  add_fuse_rules(*fuse, options);
  add_fuse_search(*fuse, options);
  add_step_options(*fuse, options.step.train);
  add_schedule_options(*fuse, command.on, options.step);
  add_common(*fuse, command.common);
  fuse->footer(
      "Examples:\n"
      "  monet fuse resnet18 --hardware monet_2x2 -o plan.yaml\n"
      "  monet evaluate resnet18 --hardware monet_2x2 --plan plan.yaml\n"
      "  monet fuse gpt2-small --hardware edge_tpu --objective edp --limit 8\n"
      "  monet fuse step.onnx --hardware monet_2x2 --rules published --objective sets --json\n"
      "  monet fuse step.onnx --hardware monet_2x2 --stacks 0-10,11-21 -o by_hand.yaml\n\n" +
      network_help());
}

}  // namespace monet::cli
