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

void add_train(CLI::App& app, TrainCommand& command) {
  CLI::App* train = app.add_subcommand("train", "the complete training step of a network: gradients, loss, optimizer");
  add_model(*train, command.model, command.options);
  add_loss_options(*train, command.options);
  add_optimizer_options(*train, command.options);
  add_selection_options(*train, command.options);
  train
      ->add_option("--conv-gradient", command.options.conv_gradient,
                   "weight gradient of convolutions: direct, a loop nest of its own, or im2col and a product")
      ->capture_default_str();
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

void add_validate(CLI::App& app, ValidateCommand& command) {
  CLI::App* validate = app.add_subcommand("validate", "accuracy against reference measurements, % error a row");
  std::string names = "Validations:\n";
  for (const ValidationInfo& info : validations()) names += fmt::format("  {:<22} {}\n", info.name, info.description);
  validate->add_option("NAME", command.name, "which; all of them by default");
  validate->add_option("--data", command.data, "the folder with groundtruth/ and models/")->type_name("DIR");
  add_common(*validate, command.common);
  validate->footer("Examples:\n  monet validate memory\n  monet validate counts --json\n\n" + names);
}

// What the arguments got wrong, with the nearest right word where one is near.
std::string explain(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments) {
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
  if (arguments.empty()) return "a command is missing (try monet --help)";
  const CLI::App* chosen = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
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
    return fmt::format(
        "there is no option '{}' ({})", name,
        guess.empty() ? fmt::format("try monet {} --help", arguments[0]) : fmt::format("did you mean '{}'?", guess));
  }
  return fmt::format("{} (try monet {} --help)", error.what(), arguments[0]);
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
