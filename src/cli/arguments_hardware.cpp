#include "cli/arguments.h"

namespace monet::cli {

void add_hardware(CLI::App& app, HardwareCommands& commands) {
  CLI::App* hardware = app.add_subcommand("hardware", "machines: presets and files, what they consist of, their peaks");
  hardware->require_subcommand(1);
  using Chosen = HardwareCommands::Chosen;
  const auto chooses = [&commands](CLI::App* command, Chosen chosen) {
    command->callback([&commands, chosen] { commands.chosen = chosen; });
  };
  CLI::App* list = hardware->add_subcommand("list", "the presets, with cores, peak, memory and confidence");
  add_common(*list, commands.list.common);
  list->footer("Examples:\n  monet hardware list\n  monet hardware list --json");

  CLI::App* show = hardware->add_subcommand("show", "a machine: cores, memories, links, peaks, sources of its values");
  show->add_option("NAME", commands.show.name, "a preset (monet hardware list) or a file")
      ->required()
      ->check(name_or_file(Offer::machines));
  add_parameters(*show, commands.show.parameters);
  show->add_flag("--values", commands.show.view.values, "every value with its source, not only the derived ones");
  show->add_option("--svg", commands.show.svg, "draw the system into this file")->type_name("FILE");
  add_common(*show, commands.show.common);
  show->footer(
      "Examples:\n"
      "  monet hardware show tpu_v4\n"
      "  monet hardware show edge_tpu --set x=8 --set pe_memory=4MiB --values\n"
      "  monet hardware show machine.yaml --svg machine.svg");

  CLI::App* check = hardware->add_subcommand("check", "is a file right, do its peaks come out, can it run a network?");
  check->add_option("FILE", commands.check.file, "a file (docs/hardware.md says what may stand in it) or a preset")
      ->check(name_or_file(Offer::machines));
  add_parameters(*check, commands.check.parameters);
  check->add_flag("--schema", commands.check.schema, "print the JSON schema of hardware files, for editors");
  check
      ->add_option("--network", commands.check.network,
                   "a network: has every operator of its training step and of inference a core? All that is missing is "
                   "listed; status 2 where something of the step is")
      ->type_name("MODEL")
      ->check(name_or_file(Offer::networks));
  check->add_flag("--inference", commands.check.inference, "with --network: the status is that of inference");
  CommandLine to(*check, commands.check.as.train);
  describe_sizes<TrainOptions>(to);
  add_precision(*check, commands.check.as.train, true);
  add_step_options(*check, commands.check.as.train);
  add_common(*check, commands.check.common);
  check->footer(
      "Examples:\n"
      "  monet hardware check machine.yaml\n"
      "  monet hardware check machine.yaml --network resnet18 --optimizer sgd\n"
      "  monet hardware check --schema > monet.schema.json");

  CLI::App* import = hardware->add_subcommand("import", "a file of ZigZag or Stream as a file of ours");
  import->add_option("FILE", commands.import.file, "ZigZag's accelerator or Stream's system, in YAML")
      ->type_name("FILE")
      ->required();
  import->add_option("--mapping", commands.import.mapping, "Stream's mapping: which core may run what")
      ->type_name("FILE");
  import->add_option("-o,--output", commands.import.output, "where to write it; standard output by default")
      ->type_name("OUT.yaml");
  add_common(*import, commands.import.common);
  import->footer(
      "Examples:\n"
      "  monet hardware import tpu_like.yaml -o mine.yaml\n"
      "  monet hardware import soc.yaml --mapping mapping.yaml");
  chooses(list, Chosen::list);
  chooses(show, Chosen::show);
  chooses(check, Chosen::check);
  chooses(import, Chosen::import);
  hardware->footer(
      "Examples:\n"
      "  monet hardware list\n"
      "  monet hardware show h100 --svg h100.svg\n"
      "  monet hardware check machine.yaml\n"
      "  monet hardware import tpu_like.yaml -o mine.yaml");
}

}  // namespace monet::cli
