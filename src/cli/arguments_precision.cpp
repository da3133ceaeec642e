#include "cli/arguments.h"

namespace monet::cli {

namespace {

void add_simulation_options(CLI::App& compare, PrecisionCompareCommand& command) {
  const OptionGroup group(compare, "Training for real");
  SimulateOptions& options = command.options.simulate;
  group
      .add("--simulate", command.options.simulate_model,
           "the network that is trained; MODEL by default. A small one stands for a large one of its kind", "MODEL")
      ->check(name_or_file(Offer::networks));
  group
      .add("--simulate-batch", command.simulate_batch,
           "its batch; --batch by default, or else its own (32 where that is 1)", "N")
      ->check(check_whole_number);
  group.add("--steps", options.steps, "of training", "N")->check(CLI::Range(1, 1000000))->capture_default_str();
  group.add("--learning-rate", options.learning_rate, "by the optimizer unless given", "X")->check(CLI::PositiveNumber);
  group.add("--data", options.data, "samples, one a line; a made-up task by default", "FILE");
  group.add("--samples", options.samples, "of the made-up task; 64 batches by default", "N")->check(check_whole_number);
  group
      .add("--measure-every", options.measure_every,
           "steps between measurements of the samples that are held out; a twentieth of all by default", "N")
      ->check(check_whole_number);
  group.add("--seed", options.seed, "of initial weights, data and order: the same for every recipe", "N")
      ->check([](const std::string& text) { return text.starts_with('-') ? "it is 0 or more" : std::string(); })
      ->capture_default_str();
  group.flag("--force", options.force, "also what is estimated to take hours");
  group.off("--no-accuracy", command.options.accuracy, "train nothing: costs only");
}

void add_precision_compare(CLI::App& precision, PrecisionCompareCommand& command) {
  CLI::App* compare = precision.add_subcommand(
      "compare", "every recipe on one network and one machine: accuracy against energy and memory");
  add_model(*compare, command.model, command.options.evaluate.train);
  compare->add_option("--hardware", command.on.hardware, "a preset (monet hardware list) or a file")
      ->required()
      ->type_name("H")
      ->check(name_or_file(Offer::machines));
  add_parameters(*compare, command.on.parameters);
  compare
      ->add_option("--recipes", command.options.recipes,
                   "recipes (monet precision list) and files; all of the program by default")
      ->check(name_or_file(Offer::recipes))
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false);
  CommandLine to(*compare, command.options.evaluate);
  describe_mapping_search<StepRequest>(to);
  describe_lowering<StepRequest>(to);
  add_simulation_options(*compare, command);
  add_step_options(*compare, command.options.evaluate.train);
  const OptionGroup output(*compare, "Output");
  output.add("-o,--output", command.folder,
             "write comparison.json, comparison.csv and report.html, a page to look at, into this folder", "DIR");
  output.add("--csv", command.csv, "write a line for each recipe", "FILE");
  add_common(*compare, command.common);
  compare->footer(
      "Examples:\n"
      "  monet precision compare mlp-robotics --batch 32 --hardware tpu_v4 -o comparison\n"
      "  monet precision compare resnet18 --hardware h100 --recipes fp32,tf32,bf16,mixed --no-accuracy\n"
      "  monet precision compare resnet18-cifar --hardware h100 --simulate mlp-robotics --simulate-batch 32\n"
      "  monet precision compare net.onnx --hardware machine.yaml --recipes fp32,mine.yaml --steps 500 --json\n\n"
      "Ctrl-C gives what was trained so far. Exit status 2: no recipe can run on the machine.\n\n" +
      network_help());
}

}  // namespace

void add_precisions(CLI::App& app, PrecisionCommands& commands) {
  CLI::App* precision =
      app.add_subcommand("precision", "number formats and recipes: what they are, what they cost and do to accuracy");
  precision->require_subcommand(1);
  CLI::App* list = precision->add_subcommand("list", "the formats and recipes that come with the program");
  add_common(*list, commands.list.common);
  list->footer("Examples:\n  monet precision list\n  monet precision list --json");

  CLI::App* show = precision->add_subcommand("show", "a recipe with its formats, or a format: bits, range, source");
  show->add_option("NAME", commands.show.name, "a recipe or a format (monet precision list), or a recipe's file")
      ->required()
      ->check(name_or_file(Offer::recipes));
  add_common(*show, commands.show.common);
  show->footer(
      "Examples:\n"
      "  monet precision show mxfp8\n"
      "  monet precision show mxfp8_e4m3\n"
      "  monet precision show fp7e3m3\n"
      "  monet precision show mine.yaml --json");
  add_precision_compare(*precision, commands.compare);

  using Chosen = PrecisionCommands::Chosen;
  const auto chooses = [&commands](CLI::App* command, Chosen chosen) {
    command->callback([&commands, chosen] { commands.chosen = chosen; });
  };
  chooses(list, Chosen::list);
  chooses(show, Chosen::show);
  chooses(precision->get_subcommand("compare"), Chosen::compare);
  precision->footer(
      "Examples:\n"
      "  monet precision list\n"
      "  monet precision show mxfp8\n"
      "  monet precision compare mlp-robotics --batch 32 --hardware jetson_agx_orin -o comparison");
}

}  // namespace monet::cli
