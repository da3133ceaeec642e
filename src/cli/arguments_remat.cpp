#include "cli/arguments.h"
#include "options/remat.h"

namespace monet::cli {

namespace {

void add_remat_model(CLI::App& remat, RematCommand& command) {
  const OptionGroup group(remat, "Costs and limits");
  CommandLine to(remat, command.options);
  describe_remat_graph(to);
  group.add("--deadline", command.deadline, "a multiple of running each node once, 2x, or a time, 20ms", "TIME");
  describe_remat_costs(to);
  group.add("--fixed", command.fixed, "memory that is always taken, for parameters", "SIZE");
  group.add("--page", command.page, "transfers are whole pages of this size", "SIZE");
  describe_remat_search(to);
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
