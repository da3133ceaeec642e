#include "cli/arguments.h"

#include "cli/terminal.h"
#include "training/optimizer_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>

namespace monet::cli {

namespace {

void add_loss_options(CLI::App& train, TrainOptions& options) {
  const OptionGroup group(train, "Loss");
  group
      .add("--loss", options.loss, "cross-entropy, mse, bce, or output:NAME for an output of the model itself", "LOSS")
      ->check(such_as({"cross-entropy", "mse", "bce"}))
      ->capture_default_str();
  group.add("--class-axis", options.class_axis, "axis of the classes in cross entropy; the last by default", "N");
  group.add("--label-smoothing", options.label_smoothing, "share of the target spread over all classes")
      ->capture_default_str();
  group.add("--ignore-index", options.ignore_index, "target that counts for nothing", "N")->capture_default_str();
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const training::OptimizerInfo& info : training::optimizers()) names.push_back(info.name);
  return names;
}

void add_optimizer_options(CLI::App& train, TrainOptions& options) {
  const OptionGroup group(train, "Optimizer");
  group.add("--optimizer", options.optimizer, fmt::format("{}", fmt::join(optimizer_names(), ", ")), "NAME")
      ->check(such_as(optimizer_names()))
      ->capture_default_str();
  group.add("--optimizer-form", options.optimizer_form, "fused: one operator a parameter; or elementwise", "FORM")
      ->check(such_as({"fused", "elementwise"}))
      ->capture_default_str();
  group.add("--weight-decay", options.weight_decay, "the optimizer's own default unless given");
  group.add("--momentum", options.momentum, "of momentum and nesterov (0.9)");
  group.add("--beta1", options.beta1, "of adam, adamw, lion, adam8bit");
  group.add("--beta2", options.beta2, "of adam, adamw, lion, adam8bit");
  group.add("--epsilon", options.epsilon, "of adam, adamw, adafactor, adam8bit");
  group.add("--clip-norm", options.clip_norm, "scale gradients down to this global norm");
  group.add("--accumulate", options.accumulate, "micro-batches whose gradients are summed for one step", "N")
      ->capture_default_str();
  group.add("--loss-scale", options.loss_scale, "factor on the loss against underflow in fp16");
}

void add_selection_options(CLI::App& train, TrainOptions& options) {
  const OptionGroup group(train, "What is trained");
  group.add("--train", options.train, "only parameters whose names match; * and ? as in a shell", "PATTERN")
      ->allow_extra_args(false);
  group.add("--freeze", options.freeze, "parameters that stay; may be given several times", "PATTERN")
      ->allow_extra_args(false);
  group.flag("--bias-only", options.bias_only, "only biases");
  group.add("--last-layers", options.last_layers, "only the last K layers that have parameters", "K");
  group.add("--lora", options.lora_rank, "freeze all, and train low-rank additions to the weights", "RANK");
  group.add("--lora-alpha", options.lora_alpha, "the additions are scaled by alpha / rank; the rank by default");
  group
      .add("--lora-target", options.lora_targets, "weights that get one; all of products and convolutions by default",
           "PATTERN")
      ->allow_extra_args(false);
}

}  // namespace

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

std::string check_whole_number(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc::result_out_of_range) return fmt::format("{} is out of range", text);
  return read.ec == std::errc() && read.ptr == end ? "" : fmt::format("'{}' is not a whole number", text);
}

void add_common(CLI::App& command, CommonOptions& common) {
  static const std::map<std::string, Color> colors = {
      {"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}};
  command.add_flag("--json", common.json, "print one JSON object and nothing else");
  command.add_flag("-q,--quiet", common.quiet, "leave out notes");
  command.add_flag("-v,--verbose", common.verbose, "show all warnings and notes");
  command
      .add_option_function<std::string>(
          "--color", [](const std::string& when) { set_color(colors.at(when)); },
          "auto: on a terminal, unless NO_COLOR is set; always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN");
}

void add_step_options(CLI::App& command, TrainOptions& options) {
  add_loss_options(command, options);
  add_optimizer_options(command, options);
  add_selection_options(command, options);
  command
      .add_option("--conv-gradient", options.conv_gradient,
                  "weight gradient of convolutions: direct, a loop nest of its own, or im2col and a product")
      ->check(such_as({"direct", "im2col"}))
      ->type_name("HOW")
      ->capture_default_str();
}

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

void add_machine(CLI::App& command, MachineNames& on, TrainOptions& train) {
  command.add_option("--hardware", on.hardware, "a preset (monet hardware list) or a file; ZigZag's and Stream's too")
      ->required()
      ->type_name("H")
      ->check(name_or_file(Offer::machines));
  add_parameters(command, on.parameters);
  add_precision(command, train, true);
}

}  // namespace monet::cli
