// The program `monet`: reads the arguments and calls the command.
#include "base/suggest.h"
#include "cli/command.h"
#include "training/optimizer_options.h"

#include <monet/version.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <new>

namespace {

using namespace monet;
using namespace monet::cli;

// "NAME=NUMBER"
std::pair<std::string, std::int64_t> parse_dimension(const std::string& text) {
  const auto equals = text.find('=');
  std::int64_t size = 0;
  const char* const end = text.data() + text.size();
  const bool named = equals != std::string::npos && equals > 0;
  const auto read = std::from_chars(named ? text.data() + equals + 1 : end, end, size);
  if (read.ec != std::errc() || read.ptr != end)
    throw CLI::ValidationError("--dim", fmt::format("'{}' is not NAME=NUMBER, as in --dim sequence=128", text));
  return {text.substr(0, equals), size};
}

// Empty, or what is wrong with it.
std::string check_whole_number(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc::result_out_of_range) return fmt::format("{} is out of range", text);
  return read.ec == std::errc() && read.ptr == end ? "" : fmt::format("'{}' is not a whole number", text);
}

void add_common(CLI::App& command, CommonOptions& common) {
  command.add_flag("--json", common.json, "print one JSON object and nothing else");
  command.add_flag("-q,--quiet", common.quiet, "leave out notes");
  command.add_flag("-v,--verbose", common.verbose, "show all warnings and notes");
}

template <class Options>
void add_model(CLI::App& command, std::string& model, Options& options) {
  command.add_option("MODEL", model, "an ONNX file or a built-in network (listed below)")->required();
  command.add_option("--batch", options.batch, "size of the batch: the first axis of the inputs")
      ->type_name("N")
      ->check(check_whole_number);
  command
      .add_option_function<std::vector<std::string>>(
          "--dim",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) options.dimensions.push_back(parse_dimension(text));
          },
          "size of a symbolic dimension; may be given several times")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
}

void add_inspect(CLI::App& app, InspectCommand& command) {
  CLI::App* inspect = app.add_subcommand("inspect", "what a network computes: parameters, MACs, operations, tensors");
  add_model(*inspect, command.model, command.options);
  inspect->add_flag("--layers", command.layers, "a line for each layer");
  add_common(*inspect, command.common);
  inspect->footer(
      "Examples:\n"
      "  monet inspect resnet18\n"
      "  monet inspect gpt2:layers=2,width=384,heads=6 --batch 8\n"
      "  monet inspect net.onnx --dim sequence=128 --layers\n"
      "  monet inspect net.onnx --json > net.json\n\n" +
      network_help());
}

void add_loss_options(CLI::App& train, TrainOptions& options) {
  train.add_option("--loss", options.loss, "cross-entropy, mse, bce, or output:NAME for an output of the model itself")
      ->group("Loss")
      ->capture_default_str();
  train.add_option("--class-axis", options.class_axis, "axis of the classes in cross entropy; the last by default")
      ->type_name("N")
      ->group("Loss");
  train.add_option("--label-smoothing", options.label_smoothing, "share of the target spread over all classes")
      ->group("Loss")
      ->capture_default_str();
  train.add_option("--ignore-index", options.ignore_index, "target that counts for nothing")
      ->type_name("N")
      ->group("Loss")
      ->capture_default_str();
}

std::string optimizer_names() {
  std::string names;
  for (const training::OptimizerInfo& info : training::optimizers()) names += (names.empty() ? "" : ", ") + info.name;
  return names;
}

void add_optimizer_options(CLI::App& train, TrainOptions& options) {
  const char* const group = "Optimizer";
  train.add_option("--optimizer", options.optimizer, optimizer_names())->group(group)->capture_default_str();
  train.add_option("--optimizer-form", options.optimizer_form, "fused: one operator a parameter; or elementwise")
      ->group(group)
      ->capture_default_str();
  train.add_option("--weight-decay", options.weight_decay, "the optimizer's own default unless given")->group(group);
  train.add_option("--momentum", options.momentum, "of momentum and nesterov (0.9)")->group(group);
  train.add_option("--beta1", options.beta1, "of adam, adamw, lion, adam8bit")->group(group);
  train.add_option("--beta2", options.beta2, "of adam, adamw, lion, adam8bit")->group(group);
  train.add_option("--epsilon", options.epsilon, "of adam, adamw, adafactor, adam8bit")->group(group);
  train.add_option("--clip-norm", options.clip_norm, "scale gradients down to this global norm")->group(group);
  train.add_option("--accumulate", options.accumulate, "micro-batches whose gradients are summed for one step")
      ->type_name("N")
      ->group(group)
      ->capture_default_str();
  train.add_option("--loss-scale", options.loss_scale, "factor on the loss against underflow in fp16")->group(group);
}

void add_selection_options(CLI::App& train, TrainOptions& options) {
  const char* const group = "What is trained";
  train.add_option("--train", options.train, "only parameters whose names match; * and ? as in a shell")
      ->type_name("PATTERN")
      ->allow_extra_args(false)
      ->group(group);
  train.add_option("--freeze", options.freeze, "parameters that stay; may be given several times")
      ->type_name("PATTERN")
      ->allow_extra_args(false)
      ->group(group);
  train.add_flag("--bias-only", options.bias_only, "only biases")->group(group);
  train.add_option("--last-layers", options.last_layers, "only the last K layers that have parameters")
      ->type_name("K")
      ->group(group);
  train.add_option("--lora", options.lora_rank, "freeze all, and train low-rank additions to the weights")
      ->type_name("RANK")
      ->group(group);
  train.add_option("--lora-alpha", options.lora_alpha, "the additions are scaled by alpha / rank; the rank by default")
      ->group(group);
  train
      .add_option("--lora-target", options.lora_targets,
                  "weights that get one; all of products and convolutions by default")
      ->type_name("PATTERN")
      ->allow_extra_args(false)
      ->group(group);
}

// All that says which step is made of a network, but for its precision.
void add_step_options(CLI::App& command, TrainOptions& options) {
  add_loss_options(command, options);
  add_optimizer_options(command, options);
  add_selection_options(command, options);
  command
      .add_option("--conv-gradient", options.conv_gradient,
                  "weight gradient of convolutions: direct, a loop nest of its own, or im2col and a product")
      ->capture_default_str();
}

void add_train(CLI::App& app, TrainCommand& command) {
  CLI::App* train = app.add_subcommand("train", "the complete training step of a network: gradients, loss, optimizer");
  add_model(*train, command.model, command.options);
  add_step_options(*train, command.options);
  train->add_option("--precision", command.options.precision,
                    "fp32, bf16, fp16, mixed or mixed-fp16; the file's own by default");
  train->add_option("-o,--output", command.output, "write the step as a standard ONNX file")->type_name("OUT.onnx");
  train->add_flag("--saved", command.view.saved, "a line for each saved tensor");
  train->add_flag("--parameters", command.view.parameters, "a line for each parameter: trained or frozen");
  train->add_flag("--layers", command.view.layers, "a line for each node of the step");
  add_common(*train, command.common);
  train->footer(
      "Examples:\n"
      "  monet train resnet18 --batch 8\n"
      "  monet train gpt2-tiny --optimizer adamw --clip-norm 1 --saved\n"
      "  monet train net.onnx --loss mse --optimizer sgd -o step.onnx\n"
      "  monet train resnet50 --freeze 'layer1.*' --freeze 'layer2.*'\n"
      "  monet train bert-base --lora 8 --precision mixed\n\n" +
      network_help());
}

// "NAME=VALUE"
void add_parameters(CLI::App& command, HardwareParameters& parameters) {
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&parameters](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto equals = text.find('=');
              if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
                throw CLI::ValidationError("--set",
                                           fmt::format("'{}' is not NAME=VALUE, as in --set pe_memory=4MiB", text));
              parameters.emplace_back(text.substr(0, equals), text.substr(equals + 1));
            }
          },
          "value of a parameter of the family; may be given several times")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

struct HardwareCommands {
  HardwareListCommand list;
  HardwareShowCommand show;
  HardwareCheckCommand check;
  HardwareImportCommand import;
};

void add_hardware(CLI::App& app, HardwareCommands& commands) {
  CLI::App* hardware = app.add_subcommand("hardware", "machines: presets and files, what they consist of, their peaks");
  hardware->require_subcommand(1);
  CLI::App* list = hardware->add_subcommand("list", "the presets, with cores, peak, memory and confidence");
  add_common(*list, commands.list.common);

  CLI::App* show = hardware->add_subcommand("show", "a machine: cores, memories, links, peaks, sources of its values");
  show->add_option("NAME", commands.show.name, "a preset (monet hardware list) or a file")->required();
  add_parameters(*show, commands.show.parameters);
  show->add_flag("--values", commands.show.view.values, "every value with its source, not only the derived ones");
  show->add_option("--svg", commands.show.svg, "draw the system into this file")->type_name("FILE");
  add_common(*show, commands.show.common);
  show->footer(
      "Examples:\n"
      "  monet hardware show tpu_v4\n"
      "  monet hardware show edge_tpu --set x=8 --set pe_memory=4MiB --values\n"
      "  monet hardware show machine.yaml --svg machine.svg");

  CLI::App* check = hardware->add_subcommand("check", "is a file right, and do its peaks come out?");
  check->add_option("FILE", commands.check.file, "a file (docs/hardware.md says what may stand in it) or a preset");
  add_parameters(*check, commands.check.parameters);
  check->add_flag("--schema", commands.check.schema, "print the JSON schema of hardware files, for editors");
  add_common(*check, commands.check.common);
  check->footer(
      "Examples:\n"
      "  monet hardware check machine.yaml\n"
      "  monet hardware check --schema > monet.schema.json");

  CLI::App* import = hardware->add_subcommand("import", "a file of ZigZag or Stream as a file of ours");
  import->add_option("FILE", commands.import.file, "ZigZag's accelerator or Stream's system, in YAML")->required();
  import->add_option("--mapping", commands.import.mapping, "Stream's mapping: which core may run what")
      ->type_name("FILE");
  import->add_option("-o,--output", commands.import.output, "where to write it; standard output by default")
      ->type_name("OUT.yaml");
  add_common(*import, commands.import.common);
  import->footer(
      "Examples:\n"
      "  monet hardware import tpu_like.yaml -o mine.yaml\n"
      "  monet hardware import soc.yaml --mapping mapping.yaml");
  hardware->footer(
      "Examples:\n"
      "  monet hardware list\n"
      "  monet hardware show h100 --svg h100.svg\n"
      "  monet hardware check machine.yaml\n"
      "  monet hardware import tpu_like.yaml -o mine.yaml");
}

int run(const CLI::App& hardware, const HardwareCommands& commands) {
  if (hardware.got_subcommand("list")) return run(commands.list);
  if (hardware.got_subcommand("show")) return run(commands.show);
  if (hardware.got_subcommand("check")) return run(commands.check);
  return run(commands.import);
}

// What commands that map operators on a machine share.
template <class Options>
void add_machine(CLI::App& command, Options& options) {
  command
      .add_option("--hardware", options.hardware, "a preset (monet hardware list) or a file; ZigZag's and Stream's too")
      ->required()
      ->type_name("H");
  add_parameters(command, options.parameters);
  command.add_option(
      "--precision", options.train.precision,
      "fp32, bf16, fp16, mixed, mixed-fp16; or a width at which every element is costed: fp8, int16, int8, int4; the "
      "file's own by default");
}

template <class Options>
void add_mapping_search(CLI::App& command, Options& options) {
  command.add_option("--objective", options.objective, "of the mappings: latency, energy or edp")
      ->capture_default_str();
  command.add_option("--factors", options.factors, "pieces of loops that are put in every order")
      ->type_name("N")
      ->check(CLI::Range(1, 12))
      ->capture_default_str();
  command.add_option("--cache", options.cache_file, "keep mappings in this file, and use those in it")
      ->type_name("FILE");
  command.add_option("--jobs", options.jobs, "threads; all processors by default")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
}

void add_map(CLI::App& app, MapCommand& command) {
  MapOptions& options = command.options;
  CLI::App* map =
      app.add_subcommand("map", "operators on the cores of a machine, each by itself: cycles, energy, traffic");
  add_model(*map, command.model, options.train);
  add_machine(*map, options);
  add_mapping_search(*map, options);
  map->add_flag("--training", options.training, "the whole training step; the file as it is by default");
  map->add_option("--optimizer", options.train.optimizer, "of the training step")->capture_default_str();
  map->add_option("--core", options.core, "only this core; the best for each operator by default")->type_name("NAME");
  map->add_option("--layer", options.layers, "only operators of this name (* and ? stand for others)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  map->add_flag("--on-chip", options.on_chip, "operands start and end in the core's own memories, not off chip");
  map->add_option("--mapping", options.mapping_file, "unrolling and loop orders to keep to: ZigZag's mapping file")
      ->type_name("FILE");
  map->add_flag("--full", options.full, "eight pieces: slower, sometimes better");
  map->add_flag_function(
      "--no-refine", [&options](std::int64_t) { options.refine = false; },
      "leave out the search for better sizes of the pieces");
  map->add_flag("--zigzag", options.zigzag, "the search and the rules of ZigZag 3.8.5, its known defects included");
  map->add_flag("--non-negative", options.non_negative, "with --zigzag: without its negative loading times");
  map->add_flag("--nests", command.view.nests, "the loops of each operator, with what each memory holds");
  map->add_option("--csv", command.csv, "write a line for each operator to this file")->type_name("FILE");
  add_common(*map, command.common);
  map->footer(
      "Examples:\n"
      "  monet map resnet18 --hardware edge_tpu\n"
      "  monet map resnet18 --training --hardware edge_tpu --set x=2 --set y=2 --objective edp\n"
      "  monet map net.onnx --hardware machine.yaml --layer 'conv*' --nests\n"
      "  monet map net.onnx --hardware tpu_like.yaml --mapping mapping.yaml --zigzag --csv layers.csv\n\n" +
      network_help());
}

void add_schedule_options(CLI::App& evaluate, EvaluateOptions& options) {
  const char* const group = "Plan and schedule";
  const auto switch_off = [&](const char* name, bool& option, const char* meaning) {
    evaluate.add_flag_function(name, [&option](std::int64_t) { option = false; }, meaning)->group(group);
  };
  evaluate.add_option("--plan", options.plan, "stacks, tiles, cores, order, recomputing, paging; rest by policy")
      ->type_name("FILE")
      ->group(group);
  evaluate
      .add_option("--recompute", options.recompute,
                  "saved tensors to compute again in the backward part; * and ? match")
      ->type_name("NAME")
      ->group(group);
  evaluate
      .add_option("--page", options.page, "saved tensors that leave memory between forward and backward, and where to")
      ->type_name("NAME MEMORY")
      ->group(group);
  evaluate.add_flag("--force", options.force, "use a plan that was made for another network or machine")->group(group);
  evaluate.add_option("--order", options.order, "critical-path, graph or listed; the plan's, or critical-path")
      ->check(CLI::IsMember({"critical-path", "graph", "listed"}))
      ->type_name("ORDER")
      ->group(group);
  evaluate.add_option("--transfers", options.transfers, "from core to core: direct or memory; the plan's, or direct")
      ->check(CLI::IsMember({"direct", "memory"}))
      ->type_name("WAY")
      ->group(group);
  evaluate
      .add_flag("--off-chip", options.off_chip,
                "every operator reads from and writes to off-chip memory, as the published flow does")
      ->group(group);
  evaluate
      .add_flag("--zigzag", options.zigzag,
                "costs by the rules of ZigZag 3.8.5 and Stream, their known defects included, in 8 bits, off chip")
      ->group(group);
  switch_off("--no-check", options.check, "leave out the independent check of the schedule");
  switch_off("--no-compare", options.compare, "leave out inference, to compare with");
  switch_off("--no-pack", options.pack, "leave out addresses: memory is then what is live");
}

void add_evaluate_outputs(CLI::App& evaluate, EvaluateCommand& command) {
  const char* const group = "Output";
  const auto rows = [&](const char* name, std::size_t& number, const char* meaning) {
    evaluate.add_option(name, number, meaning)
        ->type_name("N")
        ->check(CLI::Range(0, 1000000000))
        ->capture_default_str()
        ->group(group);
  };
  const auto file = [&](const char* name, std::string& path, const char* meaning) {
    evaluate.add_option(name, path, meaning)->type_name("FILE")->group(group);
  };
  rows("--operators", command.view.operators, "rows of the table of operators; 0: all");
  rows("--tensors", command.view.tensors, "tensors at the peak of memory that are listed; 0: all");
  evaluate
      .add_option("-o,--output", command.folder,
                  "write result.json, operators.csv, lifetimes.csv, trace.json and plan.yaml into this folder")
      ->type_name("DIR")
      ->group(group);
  file("--csv", command.csv, "write a line for each operator");
  file("--trace", command.trace, "write the schedule for ui.perfetto.dev or chrome://tracing");
  file("--lifetimes", command.lifetimes, "write a line for each buffer: memory, times, bytes, address");
  file("--save-plan", command.plan, "write the plan, complete: it gives the same result again");
}

void add_evaluate(CLI::App& app, EvaluateCommand& command) {
  CLI::App* evaluate =
      app.add_subcommand("evaluate", "a training step on a machine, in time: latency, energy, memory, and why");
  add_model(*evaluate, command.model, command.options.train);
  add_machine(*evaluate, command.options);
  evaluate->add_flag("--inference", command.options.inference,
                     "the forward part alone; what only the backward part needs is not kept");
  add_mapping_search(*evaluate, command.options);
  add_step_options(*evaluate, command.options.train);
  add_schedule_options(*evaluate, command.options);
  add_evaluate_outputs(*evaluate, command);
  add_common(*evaluate, command.common);
  evaluate->footer(
      "Examples:\n"
      "  monet evaluate resnet18 --hardware edge_tpu\n"
      "  monet evaluate resnet18-cifar --batch 4 --hardware edge_tpu --set x=2 --set y=2 -o results\n"
      "  monet evaluate gpt2-tiny --hardware h100 --precision bf16 --inference --json\n"
      "  monet evaluate net.onnx --hardware machine.yaml --save-plan plan.yaml\n"
      "  monet evaluate net.onnx --hardware machine.yaml --plan plan.yaml --trace trace.json\n\n"
      "Exit status: 0 done; 1 something given is wrong; 2 it does not fit the machine's memory, with what could be\n"
      "done about it; 3 a defect of monet.\n\n" +
      network_help());
}

void add_pack(CLI::App& app, PackCommand& command) {
  CLI::App* pack = app.add_subcommand("pack", "addresses for buffers with lifetimes, in as little memory as can be");
  pack->add_option("FILE", command.file, "a CSV file: a heading with id,lower,upper,size and a line for each buffer")
      ->required();
  pack->add_option("--capacity", command.capacity, "bytes, or as in 1MiB; as little as can be found by default")
      ->type_name("SIZE");
  pack->add_option("--time-limit", command.time_limit_s,
                   "search for so long; by default a fixed amount of search, a few seconds at most")
      ->type_name("SECONDS");
  pack->add_option("-o,--output", command.output, "write the buffers with their offsets")->type_name("OUT.csv");
  add_common(*pack, command.common);
  pack->footer(
      "A buffer is alive from lower to before upper. A column alignment may say of what its offset must be a "
      "multiple.\n"
      "Exit status 2: they do not fit; the message has the largest load, the shortfall and the buffers alive there.\n\n"
      "Examples:\n"
      "  monet pack buffers.csv\n"
      "  monet pack buffers.csv --capacity 1MiB -o placed.csv\n"
      "  monet pack buffers.csv --capacity 1048576 --time-limit 60 --json\n\n"
      "A file:\n"
      "  id,lower,upper,size,alignment\n"
      "  weights,0,9,4096,64\n"
      "  activation,2,5,1000,1\n");
}

void add_validate(CLI::App& app, ValidateCommand& command) {
  CLI::App* validate = app.add_subcommand("validate", "accuracy against reference measurements, % error a row");
  std::string names = "Validations:\n";
  for (const ValidationInfo& info : validations()) names += fmt::format("  {:<22} {}\n", info.name, info.description);
  validate->add_option("NAME", command.name, "which; all that are quick by default");
  validate->add_option("--data", command.options.data, "the folder with groundtruth/, models/ and validation/")
      ->type_name("DIR");
  validate->add_option("--only", command.options.only, "rows whose case matches; * and ? as in a shell")
      ->type_name("PATTERN");
  validate->add_option("--jobs", command.options.jobs, "threads; all processors by default")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  add_common(*validate, command.common);
  validate->footer(
      "Examples:\n  monet validate silicon\n  monet validate counts --json\n  monet validate h200 --only 'resnet18, "
      "batch 8, *'\n\n" +
      names);
}

// What the arguments got wrong, with the nearest right word where one is near. `words` are the commands before them.
std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments,
                    const std::string& words = "monet") {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  if (!arguments.empty() && !arguments[0].starts_with("-") &&
      std::ranges::find(commands, arguments[0]) == commands.end()) {
    const std::string guess = nearest(arguments[0], commands);
    return fmt::format("there is no command '{}' ({})", arguments[0],
                       guess.empty() ? fmt::format("commands are {}", fmt::join(commands, ", "))
                                     : fmt::format("did you mean '{}'?", guess));
  }
  if (arguments.empty()) return fmt::format("a command is missing (try {} --help)", words);
  const CLI::App* chosen = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  if (chosen != &app && !chosen->get_subcommands([](const CLI::App*) { return true; }).empty())
    return explain(*chosen, error, {arguments.begin() + 1, arguments.end()}, words + " " + arguments[0]);
  std::vector<std::string> options;
  for (const CLI::Option* option : chosen->get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    for (const std::string& name : option->get_snames()) options.push_back("-" + name);
  }
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("-") || name.size() < 2 || std::ranges::find(options, name) != options.end()) continue;
    if (name[1] >= '0' && name[1] <= '9') continue;
    const std::string guess = name.size() > 2 ? nearest(name, options) : "";  // one letter is near every other
    return fmt::format("there is no option '{}' ({})", name,
                       guess.empty() ? fmt::format("try {} {} --help", words, arguments[0])
                                     : fmt::format("did you mean '{}'?", guess));
  }
  return fmt::format("{} (try {} {} --help)", error.what(), words, arguments[0]);
}

int run_program(int argc, char** argv) {
  CLI::App app("MONET: how long a training step of a network takes on an accelerator, with what energy and memory.",
               "monet");
  app.set_version_flag("--version", fmt::format("monet {}", version));
  app.require_subcommand(1);
  InspectCommand inspect_command;
  TrainCommand train_command;
  add_inspect(app, inspect_command);
  ValidateCommand validate_command;
  add_train(app, train_command);
  HardwareCommands hardware_commands;
  add_hardware(app, hardware_commands);
  MapCommand map_command;
  add_map(app, map_command);
  EvaluateCommand evaluate_command;
  add_evaluate(app, evaluate_command);
  PackCommand pack_command;
  add_pack(app, pack_command);
  add_validate(app, validate_command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {
    return app.exit(answered);  // --help, --version
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "monet: {}\n", explain(app, error, {argv + 1, argv + argc}));
    return 1;
  }
  if (app.got_subcommand("train")) return run(train_command);
  if (app.got_subcommand("hardware")) return run(*app.get_subcommand("hardware"), hardware_commands);
  if (app.got_subcommand("map")) return run(map_command);
  if (app.got_subcommand("evaluate")) return run(evaluate_command);
  if (app.got_subcommand("pack")) return run(pack_command);
  if (app.got_subcommand("validate")) return run(validate_command);
  return run(inspect_command);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "monet: there is not enough memory for this\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "monet: internal error, please report it: {}\n", error.what());
    return 3;
  }
}
