// The arguments of the commands. Only the files of this header know the parser.
#pragma once

#include "cli/command.h"
#include "cli/words.h"
#include "options/step.h"

#include <CLI/CLI.hpp>

#include <string>
#include <utility>

namespace monet::cli {

void add_inspect(CLI::App& app, InspectCommand& command);
void add_networks(CLI::App& app, NetworksCommand& command);
void add_train(CLI::App& app, TrainCommand& command);
void add_hardware(CLI::App& app, HardwareCommands& commands);
void add_map(CLI::App& app, MapCommand& command);
void add_evaluate(CLI::App& app, EvaluateCommand& command);
void add_calibrate(CLI::App& app, CalibrateCommand& command);
void add_collective(CLI::App& app, CollectiveCommand& command);
void add_checkpoint(CLI::App& app, CheckpointCommand& command);
void add_explore(CLI::App& app, ExploreCommand& command);
void add_fuse(CLI::App& app, FuseCommand& command);
void add_optimize(CLI::App& app, OptimizeCommand& command);
void add_pack(CLI::App& app, PackCommand& command);
void add_parallel_search(CLI::App& app, ParallelCommand& command);
void add_precisions(CLI::App& app, PrecisionCommands& commands);
void add_remat(CLI::App& app, RematCommand& command);
void add_report(CLI::App& app, ReportCommand& command);
void add_serve(CLI::App& app, ServeCommand& command);
void add_compare(CLI::App& app, CompareCommand& command);
void add_validate(CLI::App& app, ValidateCommand& command);

using NamedSizes = std::vector<std::pair<std::string, std::int64_t>>;
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

// "NAME=NUMBER"
std::pair<std::string, std::int64_t> parse_dimension(const std::string& text);
// "0-10,11-21"
Ranges parse_ranges(const std::string& text);
// Empty, or what is wrong with it.
std::string check_whole_number(const std::string& text);

// An option that was added, for its limits.
class AddedOption {
 public:
  explicit AddedOption(CLI::Option* option) : option_(option) {}

  template <class Number>
  AddedOption within(Number least, Number most) const {
    return checked(CLI::Range(least, most));
  }
  AddedOption whole() const { return checked(CLI::Validator(check_whole_number, "")); }
  AddedOption positive() const { return checked(CLI::PositiveNumber); }
  AddedOption one_of(const std::vector<std::string>& words) const { return checked(cli::one_of(words)); }
  AddedOption such_as(const std::vector<std::string>& words) const { return checked(cli::such_as(words)); }
  AddedOption each_once() const { return AddedOption(option_->allow_extra_args(false)); }
  AddedOption with_default() const { return AddedOption(option_->capture_default_str()); }

 private:
  AddedOption checked(const CLI::Validator& validator) const { return AddedOption(option_->check(validator)); }

  CLI::Option* option_;
};

// Of one struct of options, which must outlive the parser.
template <class Options>
class CommandLine {
 public:
  CommandLine(CLI::App& command, Options& options, const char* title = nullptr)
      : command_(command), options_(options), title_(title) {}

  void title(const char* title) { title_ = title; }

  // `Part`: the struct, or what it is derived from.
  template <class Part, class Value>
  AddedOption option(const OptionName& name, Value Part::* member, const std::string& meaning,
                     const char* type = nullptr) const {
    return placed(add(flag_of(name, ""), options_.*member, meaning), type);
  }
  template <class Part>
  AddedOption flag(const OptionName& name, bool Part::* member, const std::string& meaning) const {
    return placed(command_.add_flag(flag_of(name, ""), options_.*member, meaning), nullptr);
  }
  template <class Part>
  AddedOption off(const OptionName& name, bool Part::* member, const std::string& meaning) const {
    const auto turn_off = [&options = options_, member](std::int64_t) { options.*member = false; };
    return placed(command_.add_flag_function(flag_of(name, "no-"), turn_off, meaning), nullptr);
  }
  AddedOption time_limit(double Options::* member, double /*none*/, const std::string& meaning) const {
    return option("time_limit", member, meaning, "SECONDS");
  }

 private:
  static std::string flag_of(const OptionName& name, const char* prefix) {
    if (name.command_line != nullptr) return std::string("--") + name.command_line;
    std::string flag = std::string("--") + prefix + name.python;
    for (char& letter : flag) letter = letter == '_' ? '-' : letter;
    return flag;
  }

  template <class Value>
  CLI::Option* add(const std::string& flag, Value& value, const std::string& meaning) const {
    return command_.add_option(flag, value, meaning);
  }
  CLI::Option* add(const std::string& flag, NamedSizes& sizes, const std::string& meaning) const {
    const auto read = [&sizes](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) sizes.push_back(parse_dimension(text));
    };
    return command_.add_option_function<std::vector<std::string>>(flag, read, meaning)->allow_extra_args(false);
  }
  CLI::Option* add(const std::string& flag, Ranges& ranges, const std::string& meaning) const {
    const auto read = [&ranges](const std::string& text) { ranges = parse_ranges(text); };
    return command_.add_option_function<std::string>(flag, read, meaning);
  }
  AddedOption placed(CLI::Option* option, const char* type) const {
    if (type != nullptr) option->type_name(type);
    if (title_ != nullptr) option->group(title_);
    return AddedOption(option);
  }

  CLI::App& command_;
  Options& options_;
  const char* title_;
};

// The options of a command that stand under one title of its help.
class OptionGroup {
 public:
  OptionGroup(CLI::App& command, const char* title) : command_(command), title_(title) {}

  // `type`: what stands for the value in the help.
  template <class Value>
  CLI::Option* add(const char* name, Value& value, const std::string& meaning, const char* type = nullptr) const {
    CLI::Option* option = command_.add_option(name, value, meaning)->group(title_);
    return type == nullptr ? option : option->type_name(type);
  }
  CLI::Option* flag(const char* name, bool& value, const std::string& meaning) const {
    return command_.add_flag(name, value, meaning)->group(title_);
  }
  // A flag for what is done without it.
  CLI::Option* off(const char* name, bool& value, const std::string& meaning) const {
    return command_.add_flag_function(name, [&value](std::int64_t) { value = false; }, meaning)->group(title_);
  }

 private:
  CLI::App& command_;
  const char* title_;
};

// What several commands share.
void add_common(CLI::App& command, CommonOptions& common);
// All that says which step is made of a network, but for its precision.
void add_step_options(CLI::App& command, TrainOptions& options);
// --simulate and what belongs to it.
void add_simulate_options(CLI::App& train, TrainCommand& command);
void add_parameters(CLI::App& command, HardwareParameters& parameters);
void add_schedule_options(CLI::App& command, MachineNames& on, StepRequest& options);

template <class Options>
void add_model(CLI::App& command, std::string& model, Options& options) {
  command.add_option("MODEL", model, "an ONNX file or a built-in network (listed below)")
      ->required()
      ->check(name_or_file(Offer::networks));
  CommandLine to(command, options);
  describe_sizes<Options>(to);
}

// --precision; `widths`: also those at which every element is costed.
void add_precision(CLI::App& command, TrainOptions& options, bool widths);

// What commands that map operators on a machine share.
void add_machine(CLI::App& command, MachineNames& on, TrainOptions& train);

}  // namespace monet::cli
