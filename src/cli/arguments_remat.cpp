#include "cli/arguments.h"

#include <fmt/format.h>

namespace monet::cli {

namespace {

void add_remat_model(CLI::App& remat, RematCommand& command) {
  const OptionGroup group(remat, "Costs and limits");
  group.add("--profiles", command.options.profiles, "devices, for graphs with operation counts", "FILE");
  group.add("--device", command.options.device, "which of them", "NAME");
  group.add("--deadline", command.deadline, "a multiple of running each node once, 2x, or a time, 20ms", "TIME");
  group.flag("--free-transfers", command.options.free_transfers,
             "the deadline is for computation alone, as in POET's model");
  group.add("--objective", command.options.objective, "time or energy; energy where there is one by default", "WHAT")
      ->check(one_of({"time", "energy"}));
  group.add("--fixed", command.fixed, "memory that is always taken, for parameters", "SIZE");
  group.add("--page", command.page, "transfers are whole pages of this size", "SIZE");
}

void add_remat_search(CLI::App& remat, RematOptions& options) {
  const OptionGroup group(remat, "Search");
  group.add("--method", options.method, "search, or milp: an integer program, for small graphs", "HOW")
      ->check(one_of({"search", "milp"}))
      ->capture_default_str();
  group.add("--time-limit", options.time_limit_s, "the best found by then is the answer", "SECONDS")
      ->capture_default_str();
  group.flag("--reorder,!--no-reorder", options.reorder,
             "also schedules with first runs in another order; takes the time limit once more");
  group.off("--no-recompute", options.recompute, "page only");
  group.off("--no-paging", options.page, "recompute only");
  group.off("--no-prune", options.prune, "leave repeats that are not needed");
  group.off("--no-improve", options.improve, "the first schedule that is found");
  group.off("--no-bound", options.bound, "do not look for a lower bound");
  group.add("--seed", options.seed, "of the random numbers", "N")->capture_default_str();
  group.add_jobs(options.jobs);
}

}  // namespace

void add_remat(CLI::App& app, RematCommand& command) {
  CLI::App* remat =
      app.add_subcommand("remat", "what to run again or page out in a graph with costs, to keep within a budget");
  remat->add_option("GRAPH", command.file, "a JSON file as Checkmate, Moccasin or POET write it")
      ->type_name("FILE")
      ->required();
  remat->add_option("--budget", command.budget, "of memory: a part of the peak of the given order, 0.9, or 5000B, 2MiB")
      ->type_name("SIZE")
      ->required();
  add_remat_model(*remat, command);
  add_remat_search(*remat, command.options);
  remat->add_option("-o,--output", command.output, "write the schedule, action by action")->type_name("OUT.json");
  add_common(*remat, command.common);
  remat->footer(
      "A node's output is in memory from its run to its last use, its operands and its output at once. Ctrl-C ends "
      "the\n"
      "search with what it has. Exit status 2: nothing fits; the message says what would.\n\n"
      "Examples:\n"
      "  monet remat graph.json --budget 0.9\n"
      "  monet remat graph.json --budget 0.8 --reorder --time-limit 30 -o schedule.json\n"
      "  monet remat linear.json --budget 4000B --profiles chipsets.json --device MKR1000 --deadline 2x --json\n\n"
      "A file:\n"
      "  {\"nodes\": [{\"id\": 0, \"cost_cpu\": 5, \"cost_ram\": 100}, {\"id\": 1, \"cost_cpu\": 2, \"cost_ram\": "
      "50}],\n"
      "   \"links\": [{\"source\": 0, \"target\": 1}]}\n");
}

}  // namespace monet::cli
