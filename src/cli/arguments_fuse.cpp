#include "cli/arguments.h"
#include "options/fuse.h"

namespace monet::cli {

void add_fuse(CLI::App& app, FuseCommand& command) {
  FuseOptions& options = command.options;
  CLI::App* fuse =
      app.add_subcommand("fuse", "layers fused into stacks, over the whole training step, with their tiles");
  add_model(*fuse, command.model, options.step.train);
  add_machine(*fuse, command.on, options.step.train);
  fuse->add_flag("--inference", options.step.inference, "the forward part alone");
  CommandLine to(*fuse, options);
  describe_fuse(to);
  CommandLine of_step(*fuse, options.step, "Search");
  describe_mapping_effort<StepRequest>(of_step);
  fuse->add_option("-o,--output", command.output, "write the plan, for monet evaluate --plan")->type_name("PLAN");
  fuse->add_option("--show", command.show, "stacks in the table; 0: all")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
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
