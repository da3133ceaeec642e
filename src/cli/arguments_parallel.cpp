#include "cli/arguments.h"

namespace monet::cli {

void add_parallel_search(CLI::App& app, ParallelCommand& command) {
  CLI::App* parallel =
      app.add_subcommand("parallel", "how to train on many chips: the best of all settings of a parallel plan");
  ParallelSearchOptions& options = command.options;
  add_model(*parallel, command.model, options.step.train);
  add_machine(*parallel, command.on, options.step.train);
  add_step_options(*parallel, options.step.train);
  parallel->add_option("--chips", options.chips, "all chips")
      ->required()
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24));
  parallel->add_option("--objective", options.objective, "time, energy, or chips: the fewest that meet the deadline")
      ->type_name("WHAT")
      ->check(one_of({"time", "energy", "chips"}))
      ->capture_default_str();
  parallel->add_option("--deadline", command.deadline, "of a step: 20s, 500ms")->type_name("TIME");
  parallel->add_option("--memory-budget", command.memory, "of a chip: 70GB; what it has by default")->type_name("SIZE");
  const OptionGroup group(*parallel, "What is looked at alone");
  const auto sizes = [&](const char* name, std::vector<std::int64_t>& values, const std::string& meaning) {
    group.add(name, values, meaning, "N")->delimiter(',')->allow_extra_args(false);
  };
  sizes("--tp", options.tp, "sizes of tensor parallelism");
  sizes("--pp", options.pp, "stages' chips");
  sizes("--micro-batch", options.micro_batches, "samples of one chip of dp at a time");
  sizes("--chunks", options.chunks, "stages of a chip");
  sizes("--zero", options.zero, "what lies over dp: 0 nothing, 1 states, 2 gradients, 3 weights");
  group.add("--schedule", options.schedules, "1f1b, gpipe, interleaved, zb-h1, zb-h2, zbv", "NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
  group.add("--recompute", options.recompute, "none, selective, blocks", "WHAT")
      ->delimiter(',')
      ->allow_extra_args(false);
  group.add("--max-micro-batch", options.max_micro_batch, "the largest micro-batch", "N")->capture_default_str();
  group.off("--no-placements", options.placements, "axes lie as dp, pp, tp, outermost first");
  parallel->add_option("-o,--output", command.output, "the plan of the best, for evaluate --plan")->type_name("FILE");
  parallel->add_option("--rejected", command.rejected, "a table of all other settings, and why each is none")
      ->type_name("FILE");
  add_common(*parallel, command.common);
  parallel->footer(
      "Examples:\n"
      "  monet parallel gpt2-mini --hardware dgx_h100 --chips 16 --batch 64 --precision bf16\n"
      "  monet parallel llama3-70b --hardware dgx_h100 --chips 1024 --batch 2048 --precision bf16 -o plan.yaml\n"
      "  monet parallel llama3-70b --hardware dgx_h100 --chips 256 --batch 512 --precision bf16 --objective chips "
      "--deadline 30s");
}

}  // namespace monet::cli
