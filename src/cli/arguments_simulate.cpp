#include "cli/arguments.h"

namespace monet::cli {

void add_simulate_options(CLI::App& train, TrainCommand& command) {
  const char* const group = "Training for real";
  SimulateOptions& options = command.simulate;
  CLI::Option* const simulate =
      train
          .add_option_function<std::vector<std::string>>(
              "--simulate",
              [&command](const std::vector<std::string>& steps) {
                command.simulates = true;
                if (!steps.empty() && !steps[0].empty()) command.simulate.steps = std::stoll(steps[0]);
              },
              "train a small network for so many steps (200), every number rounded as its precision has it, and show "
              "the losses")
          ->type_name("[STEPS]")
          ->expected(0, 1)
          ->check(check_whole_number)
          ->group(group);
  const auto belongs = [&](CLI::Option* option, const char* type) {
    option->type_name(type)->group(group)->needs(simulate);
  };
  belongs(train
              .add_option("--compare", command.compare,
                          "precisions to compare with, of which the first is the reference; fp32 by default")
              ->check(name_or_file(Offer::recipes))
              ->delimiter(',')
              ->allow_extra_args(false),
          "FORMAT");
  belongs(train.add_option("--data", options.data,
                           "samples, one a line: features, then the class or the targets; a made-up task by default"),
          "FILE");
  belongs(train.add_option("--learning-rate", options.learning_rate, "1e-3 for adam, 0.05 for sgd by default"), "RATE");
  belongs(train.add_option("--samples", options.samples, "of the made-up task; 64 batches by default")
              ->check(check_whole_number),
          "N");
  belongs(train.add_option("--seed", options.seed, "of weights, data and order")
              ->check([](const std::string& text) { return text.starts_with('-') ? "it is 0 or more" : std::string(); })
              ->capture_default_str(),
          "N");
  belongs(train
              .add_option("--measure-every", options.measure_every,
                          "steps between measurements of the samples that are held out; a quarter of all by default")
              ->check(check_whole_number),
          "N");
  belongs(train.add_option("--csv", command.csv, "write the losses, a line for each step"), "FILE");
  belongs(train.add_option("--jobs", options.jobs, "precisions at a time; all processors by default")
              ->check(CLI::Range(0, 1024)),
          "N");
}

}  // namespace monet::cli
