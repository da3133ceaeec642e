#include "cli/arguments.h"
#include "options/plans.h"

namespace monet::cli {

namespace {

// Of the searches: what is fixed before they begin.
void add_step_on_machine(CLI::App& command, std::string& model, MachineNames& on, StepRequest& options) {
  add_model(command, model, options.train);
  add_machine(command, on, options.train);
  add_step_options(command, options.train);
  OptionGroup(command, "Evaluation").add("--plan", on.plan, "stacks, tiles and cores to keep to", "FILE");
  CommandLine to(command, options);
  describe_searched_step(to);
}

}  // namespace

void add_checkpoint(CLI::App& app, CheckpointCommand& command) {
  CheckpointOptions& options = command.options;
  CLI::App* checkpoint = app.add_subcommand(
      "checkpoint", "which saved tensors to keep, recompute or page out, to fit a memory budget at the least cost");
  add_step_on_machine(*checkpoint, command.model, command.on, options.evaluate);
  CommandLine to(*checkpoint, options);
  describe_checkpoint(to);
  const OptionGroup output(*checkpoint, "Output");
  output.add("-o,--output", command.output,
             "write the plan; into a folder with a report where there are several, or PATH is "
             "a folder, as plans/ is",
             "PATH");
  output.add("--csv", command.csv, "write a line for each plan", "FILE");
  output.add("--points", command.points, "exact: write a line for each plan that was looked at", "FILE");
  add_common(*checkpoint, command.common);
  checkpoint->footer(
      "Examples:\n"
      "  monet checkpoint resnet18 --batch 32 --hardware jetson_agx_orin --memory-budget 70%\n"
      "  monet checkpoint mlp-robotics --batch 64 --hardware poet_rpi --memory-budget 90% --objective energy -o "
      "plan.yaml\n"
      "  monet checkpoint bert-base --hardware tpu_v4 --pareto -o plans\n"
      "  monet checkpoint resnet18-224 --hardware monet_2x2 --method exact --measure saved --order frugal\n\n"
      "The plan is one for `monet evaluate --plan`. Ctrl-C and --time-limit give the best that was found.\n"
      "Exit status 2: nothing fits; the message has the smallest budget that would do, and what forces it.\n\n" +
      network_help());
}

void add_optimize(CLI::App& app, OptimizeCommand& command) {
  OptimizeOptions& options = command.options;
  CLI::App* optimize = app.add_subcommand(
      "optimize", "fusion, tiles, memory and placement together: a set of plans, each the best in its way");
  add_step_on_machine(*optimize, command.model, command.on, options.evaluate);
  CommandLine to(*optimize, options);
  describe_optimize(to);
  OptionGroup(*optimize, "Output")
      .add("-o,--output", command.output, "write the plans, plans.csv, result.json and report.html into this folder",
           "DIR");
  add_common(*optimize, command.common);
  optimize->footer(
      "Examples:\n"
      "  monet optimize resnet18-cifar --batch 4 --hardware monet_2x2 -o plans\n"
      "  monet optimize gpt2-tiny --hardware edge_tpu --memory-budget 90% --objective edp\n"
      "  monet evaluate resnet18-cifar --batch 4 --hardware monet_2x2 --plan plans/plan_000.yaml\n\n"
      "Ctrl-C and --time-limit give the best that was found. Exit status 2: nothing fits.\n\n" +
      network_help());
}

}  // namespace monet::cli
