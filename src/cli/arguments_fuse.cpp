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
  const char* const group = "Rules";
  const auto number = [&](const char* name, std::int64_t& value, const char* meaning) {
    fuse.add_option(name, value, meaning)
        ->type_name("N")
        ->check(check_whole_number)
        ->capture_default_str()
        ->group(group);
  };
  const auto switch_off = [&](const char* name, bool& option, const char* meaning) {
    fuse.add_flag_function(name, [&option](std::int64_t) { option = false; }, meaning)->group(group);
  };
  number("--limit", options.limit, "operators of a stack");
  fuse.add_option("--rules", options.rules,
                  "own, or published: Sum, Gather, Pad do not count as operators, and weights have 8 bits")
      ->check(such_as({"own", "published"}))
      ->type_name("WHOSE")
      ->capture_default_str()
      ->group(group);
  number("--max-conv", options.convolutions, "convolutions of a stack");
  number("--max-transposed", options.transposed, "transposed convolutions of a stack");
  number("--max-products", options.products, "matrix products and gradients of weights of a stack");
  number("--max-conv-with-product", options.convolutions_with_product, "convolutions of both kinds beside a product");
  number("--max-leaving", options.leaving, "operators of a stack whose results are read outside");
  switch_off("--any-tilings", options.divisible_tilings, "tilings of a stack's operators need not divide each other");
  switch_off("--any-weights", options.weights_fit, "weights of a stack need not fit the cores' memories at once");
  fuse.add_option_function<std::string>(
          "--stacks", [&options](const std::string& text) { options.stacks = parse_ranges(text); },
          "these stacks by numbers of operators, the rest single; only their tiles are searched")
      ->type_name("A-B,C-D")
      ->group(group);
}

void add_fuse_search(CLI::App& fuse, FuseOptions& options) {
  const char* const group = "Search";
  const auto switch_off = [&](const char* name, bool& option, const char* meaning) {
    fuse.add_flag_function(name, [&option](std::int64_t) { option = false; }, meaning)->group(group);
  };
  switch_off("--no-tiles", options.tiles, "cut no operator into tiles");
  switch_off("--no-improve", options.improve, "leave out improvement on evaluations of the whole step");
  fuse.add_option("--effort", options.effort, "of improvement")->type_name("X")->capture_default_str()->group(group);
  fuse.add_option("--time-limit", options.time_limit_s, "stop after so long, with the best so far; none by default")
      ->type_name("SECONDS")
      ->group(group);
  fuse.add_option("--max-candidates", options.max_candidates, "sets that are looked at")
      ->type_name("N")
      ->check(check_whole_number)
      ->capture_default_str()
      ->group(group);
  switch_off("--no-dominance", options.dominance, "keep sets that cost no less than their parts");
  switch_off("--no-decompose", options.decompose, "solve all of the step at once");
  switch_off("--no-repeat", options.repeat, "solve parts of equal content each time anew");
  switch_off("--no-dynamic", options.dynamic, "solve every part as an integer program");
  switch_off("--no-lift", options.lift, "forbid rings of stacks one by one");
  fuse.add_option("--factors", options.step.factors, "pieces of loops that are put in every order")
      ->type_name("N")
      ->check(CLI::Range(1, 12))
      ->capture_default_str()
      ->group(group);
  fuse.add_option("--cache", options.step.cache_file, "keep mappings in this file, and use those in it")
      ->type_name("FILE")
      ->group(group);
  fuse.add_option("--jobs", options.step.jobs, "threads; all processors by default")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->group(group);
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
