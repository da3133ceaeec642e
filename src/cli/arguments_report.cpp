#include "cli/arguments.h"

namespace monet::cli {

namespace {

constexpr const char* statuses = "Exit status: 0 done; 1 something given is wrong; 3 a defect of monet.\n";

}  // namespace

void add_report(CLI::App& app, ReportCommand& command) {
  CLI::App* report = app.add_subcommand("report", "one page to look at, which opens in any browser without a network");
  report
      ->add_option(
          "INPUT", command.input,
          "a folder that evaluate, optimize, checkpoint, explore or precision compare wrote with -o, a result.json, "
          "or a store")
      ->required();
  report->add_option("SECOND", command.second, "another folder or result.json of evaluate: both, and what changed");
  report
      ->add_option("-o,--output", command.output,
                   "the page; - for standard output. By default report.html in the folder, NAME.html beside a store, "
                   "comparison.html here for two")
      ->type_name("FILE.html");
  report->add_option("--title", command.options.title, "of the page")->type_name("TEXT");
  report
      ->add_option("--objectives", command.options.objectives,
                   "of a store: latency, energy, edp, area, memory, cost, utilization; of one workload as energy@NAME")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_common(*report, command.common);
  report->footer(
      std::string("Examples:\n"
                  "  monet evaluate resnet18-cifar --batch 4 --hardware edge_tpu -o results   has a page already\n"
                  "  monet report results -o results.html --title 'ResNet-18 on a small machine'\n"
                  "  monet report edge_tpu.sqlite --objectives latency@inference,energy@inference\n"
                  "  monet report before after -o comparison.html\n\n"
                  "Prints where the page is. What is read is never written over.\n") +
      statuses);
}

void add_compare(CLI::App& app, CompareCommand& command) {
  CLI::App* compare = app.add_subcommand("compare", "two results: what changed, and which part explains it");
  const char* const meaning = "a folder that evaluate wrote with -o, or its result.json";
  compare->add_option("A", command.a, meaning)->required();
  compare->add_option("B", command.b, meaning)->required();
  const OptionGroup output(*compare, "Output");
  output.add("--csv", command.csv, "write a line for each part", "FILE");
  output.add("-o,--output", command.output, "write a page with both results and what changed", "FILE.html");
  add_common(*compare, command.common);
  compare->footer(
      std::string("Examples:\n"
                  "  monet evaluate resnet18-cifar --batch 4 --hardware edge_tpu -o kept\n"
                  "  monet evaluate resnet18-cifar --batch 4 --hardware edge_tpu --recompute '*relu*' -o recomputed\n"
                  "  monet compare kept recomputed\n"
                  "  monet compare kept recomputed --json\n"
                  "  monet compare kept recomputed -o comparison.html --csv parts.csv\n\n"
                  "A change is b - a. The parts of latency, energy and memory add up to them.\n") +
      statuses);
}

}  // namespace monet::cli
