// The arguments of the commands. Only the files of this header know the parser.
#pragma once

#include "cli/command.h"
#include "cli/words.h"

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
  template <class Number>
  void add_jobs(Number& jobs) const {
    add("--jobs", jobs, "threads; all processors by default", "N")->check(CLI::Range(0, 1024));
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
void add_parallel(CLI::App& command, StepRequest& options);
void add_lowering(CLI::App& command, std::string& lowering);
void add_schedule_options(CLI::App& command, MachineNames& on, StepRequest& options);
// --custom: costs of operators, from a file.
void add_custom_costs(const OptionGroup& group, StepRequest& options);

// "NAME=NUMBER"
std::pair<std::string, std::int64_t> parse_dimension(const std::string& text);
// Empty, or what is wrong with it.
std::string check_whole_number(const std::string& text);

template <class Options>
void add_sizes(CLI::App& command, Options& options) {
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
  command
      .add_option("--parameter", options.parameter,
                  "tensors of the file that are trained, whatever they look like; * and ? as in a shell")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command.add_option("--buffer", options.buffer, "tensors of the file that are not trained: masks, tables, statistics")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command.add_flag("--fused-norms", options.fused_norms,
                   "norms that the file spells out (RMS norms as powers, means, roots) run and save as one operator");
}

template <class Options>
void add_model(CLI::App& command, std::string& model, Options& options) {
  command.add_option("MODEL", model, "an ONNX file or a built-in network (listed below)")
      ->required()
      ->check(name_or_file(Offer::networks));
  add_sizes(command, options);
}

// --precision; `widths`: also those at which every element is costed.
void add_precision(CLI::App& command, TrainOptions& options, bool widths);

// What commands that map operators on a machine share.
void add_machine(CLI::App& command, MachineNames& on, TrainOptions& train);

template <class Options>
void add_mapping_search(CLI::App& command, Options& options) {
  command.add_option("--objective", options.objective, "of the mappings: latency, energy or edp")
      ->check(one_of({"latency", "energy", "edp"}))
      ->type_name("WHAT")
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

}  // namespace monet::cli
