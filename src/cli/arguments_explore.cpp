#include "cli/arguments.h"
#include "options/explore.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::cli {

namespace {

constexpr const char* subject_group = "For which network";
constexpr const char* search_group = "Which designs";
constexpr const char* work_group = "Store and work";
constexpr const char* output_group = "Output";

// Looking and rescuing evaluate nothing.
void refuse_options(CLI::App& explore, const std::vector<std::string>& groups, const std::string& with) {
  for (const CLI::Option* option : explore.get_options()) {
    const bool refused = std::ranges::find(groups, option->get_group()) != groups.end();
    const bool taken = with == "--rescue" && option->get_name() == "--store";
    if (option->count() > 0 && refused && !taken)
      throw CLI::ValidationError(
          fmt::format("{} does not go with {} (leave one of them out)", option->get_name(), with));
  }
}

}  // namespace

void add_explore(CLI::App& app, ExploreCommand& command) {
  ExploreOptions& options = command.options;
  CLI::App* explore =
      app.add_subcommand("explore", "which hardware should be built: many designs of a space, compared");
  explore->add_option("SPACE", options.space, "a file, or a space that comes with the program (--list)")
      ->check(name_or_file(Offer::spaces));
  explore->add_flag("--list", command.list, "list the spaces that come with the program");
  const OptionGroup work_on(*explore, subject_group), search(*explore, search_group), output(*explore, output_group);
  work_on
      .add("--network", options.network, "in place of the workloads' own: a built-in network or an ONNX file",
           "NETWORK")
      ->check(name_or_file(Offer::networks));
  work_on.add("--batch", options.batch, "in place of the workloads' own", "N")->check(CLI::Range(1, 1000000000));
  CLI::Option* show = explore->add_option("--show", command.show, "look at a store; nothing is evaluated");
  show->type_name("STORE");
  explore
      ->add_option("--rescue", command.rescue,
                   "write what can still be read of a damaged store to a new one: --store, or NAME.rescued.sqlite")
      ->type_name("STORE");
  explore
      ->add_option("--objectives", options.objectives,
                   "latency, energy, edp, area, memory, cost, utilization; of one workload as energy@NAME; the space's "
                   "by default")
      ->type_name("A,B")
      ->check(such_as({"latency", "energy", "edp", "area", "memory", "cost", "utilization"}))
      ->delimiter(',')
      ->allow_extra_args(false);
  CLI::Option* all = search.flag("--all", command.all, "every design");
  CLI::Option* samples = search.add("--samples", options.samples, "so many designs at most; sobol's by default", "N")
                             ->check(CLI::Range(1, 1000000000));
  CLI::Option* method = search
                            .add("--method", command.method,
                                 "all, random, sobol, nsga2, surrogate or narrow; by default all of up to "
                                 "20,000 designs, else nsga2")
                            ->check(one_of({"all", "random", "sobol", "nsga2", "surrogate", "narrow"}));
  all->excludes(samples)->excludes(method);
  CommandLine to(*explore, options, search_group);
  describe_explore_search(to);
  to.title(work_group);
  describe_explore_work(to);
  output.add("--front", command.view.front, "rows of the table of the front; 0: all", "N")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  output.add("--csv", command.csv, "write a line for each design of the store", "FILE");
  output.add("--jsonl", command.lines, "write a JSON object for each design of the store, one a line", "FILE");
  output.add("-o,--output", command.output,
             "write a page with pictures to NAME.html, or that, designs.csv and front.json into a folder",
             "FOLDER|FILE.html");
  add_common(*explore, command.common);
  explore->callback([explore, &command] {
    if (!command.show.empty()) refuse_options(*explore, {subject_group, search_group, work_group}, "--show");
    if (command.list) refuse_options(*explore, {subject_group, search_group, work_group}, "--list");
    if (!command.rescue.empty())
      refuse_options(*explore, {subject_group, search_group, work_group, output_group}, "--rescue");
  });
  explore->footer(
      "Examples:\n"
      "  monet explore edge_tpu -o report.html\n"
      "  monet explore edge_tpu --network net.onnx --batch 8\n"
      "  monet explore space.yaml --method nsga2 --samples 500 --objectives latency,energy,area\n"
      "  monet explore edge_tpu --resume                   after Ctrl-C, a crash, or with another process beside it\n"
      "  monet explore edge_tpu --cluster tls://head:8786  workers of a running Dask cluster\n"
      "  monet explore --show edge_tpu.sqlite --objectives latency@inference,energy@inference --csv designs.csv\n"
      "  monet explore --rescue edge_tpu.sqlite            a damaged store: what can still be read, in a new one\n\n"
      "Results are kept in the store as they come: Ctrl-C and --time-limit give what was found, and --resume goes on.\n"
      "Exit status 2: no design can run the workloads; the message has the most frequent reason.");
}

}  // namespace monet::cli
