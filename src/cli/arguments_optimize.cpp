#include "cli/arguments.h"

namespace monet::cli {

namespace {

// Of the searches: what is fixed before they begin.
void add_step_on_machine(CLI::App& command, std::string& model, MachineNames& on, StepRequest& options) {
  add_model(command, model, options.train);
  add_machine(command, on, options.train);
  add_step_options(command, options.train);
  const OptionGroup group(command, "Evaluation");
  group.add("--plan", on.plan, "stacks, tiles and cores to keep to", "FILE");
  group.flag("--force", options.force, "use a plan that was made for another network or machine");
  add_custom_costs(group, options);
  add_lowering(command, options.lowering);
  group.add("--order", options.order, "critical-path, graph, listed or frugal", "O")
      ->check(one_of({"critical-path", "graph", "listed", "frugal"}));
  group.flag("--off-chip", options.off_chip, "every operator reads from and writes to off-chip memory");
  group.flag("--zigzag", options.zigzag, "costs by the rules of ZigZag 3.8.5 and Stream, in 8 bits, off chip");
  group.add("--factors", options.factors, "pieces of loops that mappings put in every order", "N")
      ->check(CLI::Range(1, 12))
      ->capture_default_str();
  command.add_option("--jobs", options.jobs, "threads; all processors by default")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
}

void add_budgets(CLI::App& command, std::vector<std::string>& budgets, std::string& deadline) {
  command
      .add_option(
          "--memory-budget", budgets,
          "bytes of packed peak: 2MiB, MEMORY=2MiB, or 80% of what is needed without one; what the memory holds "
          "by default")
      ->type_name("[MEMORY=]SIZE")
      ->allow_extra_args(false);
  command.add_option("--deadline", deadline, "of the step: 1.5x of what it takes without, or 20ms")->type_name("TIME");
}

void add_time_limit(const OptionGroup& group, double& seconds) {
  group.add("--time-limit", seconds, "seconds after which the best so far is the answer", "SECONDS")
      ->check(CLI::PositiveNumber);
}

}  // namespace

void add_checkpoint(CLI::App& app, CheckpointCommand& command) {
  CheckpointOptions& options = command.options;
  CLI::App* checkpoint = app.add_subcommand(
      "checkpoint", "which saved tensors to keep, recompute or page out, to fit a memory budget at the least cost");
  add_step_on_machine(*checkpoint, command.model, command.on, options.evaluate);
  checkpoint
      ->add_option("--home", options.evaluate.home,
                   "only plans with data at home in this storage: they come to memory in parts, and go back")
      ->type_name("STORAGE");
  add_budgets(*checkpoint, options.budgets, options.deadline);
  checkpoint->add_option("--objective", options.objective, "latency, energy or edp")
      ->check(one_of({"latency", "energy", "edp"}))
      ->type_name("WHAT")
      ->capture_default_str();
  checkpoint
      ->add_option("--method", options.method,
                   "search; nsga2, the published genetic search; exact, all plans; milp, an integer program beside the "
                   "search, for small networks; chen, checkmate, capuchin, dtr: by the rules of their papers")
      ->check(one_of({"search", "nsga2", "exact", "milp", "chen", "checkmate", "capuchin", "dtr"}))
      ->capture_default_str();
  checkpoint->add_flag("--pareto", options.pareto, "plans for all budgets, from all kept down to the least");
  checkpoint->add_option("--pareto-step", options.pareto_step, "between budgets, of what all kept needs")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  checkpoint->add_option("--measure", options.measure, "memory for nsga2 and exact: peak, or saved bytes")
      ->check(one_of({"peak", "saved"}))
      ->capture_default_str();
  checkpoint->add_option("--tensors", options.tensors, "only tensors whose names match; * and ? as in a shell")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  const OptionGroup what(*checkpoint, "What may be done");
  what.off("--no-recompute", options.recompute, "recompute nothing");
  what.off("--no-page", options.page, "page nothing");
  what.off("--no-page-weights", options.page_static, "keep weights and optimizer state in memory");
  what.off("--no-reorder", options.reorder, "keep to the plan's order");
  const OptionGroup effort(*checkpoint, "Effort");
  effort.add("--evaluations", options.evaluations, "plans that search prices for a budget", "N")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  add_time_limit(effort, options.time_limit_s);
  effort.add("--population", options.population, "of nsga2")->check(CLI::Range(2, 1000000))->capture_default_str();
  effort.add("--generations", options.generations, "of nsga2")->check(CLI::Range(0, 1000000))->capture_default_str();
  effort.add("--crossover", options.crossover, "share of children with two parents")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  effort.add("--mutation", options.mutation, "probability that a choice changes")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  effort.add("--seed", options.seed, "of random choices")->capture_default_str();
  effort.off("--no-seeds", options.seeds, "search: do not begin with segments");
  effort.off("--no-prune", options.prune, "search: do not take back what is not needed");
  effort.off("--no-improve", options.improve, "search: end after the first descent");
  const OptionGroup output(*checkpoint, "Output");
  output.add("-o,--output", command.output,
             "write the plan; into a folder with a report where there are several, or PATH is "
             "a folder, as plans/ is",
             "PATH");
  output.add("--csv", command.csv, "write a line for each plan", "FILE");
  output.add("--points", command.points, "exact: write a line for each plan that was looked at", "FILE");
  add_common(*checkpoint, command.common);
  checkpoint->footer(
      "Examples:\n"
      "  monet checkpoint resnet18 --batch 32 --hardware jetson_agx_orin --memory-budget 70%\n"
      "  monet checkpoint mlp-robotics --batch 64 --hardware poet_rpi --memory-budget 90% --objective energy -o "
      "plan.yaml\n"
      "  monet checkpoint bert-base --hardware tpu_v4 --pareto -o plans\n"
      "  monet checkpoint resnet18-224 --hardware monet_2x2 --method exact --measure saved --order frugal\n\n"
      "The plan is one for `monet evaluate --plan`. Ctrl-C and --time-limit give the best that was found.\n"
      "Exit status 2: nothing fits; the message has the smallest budget that would do, and what forces it.\n\n" +
      network_help());
}

void add_optimize(CLI::App& app, OptimizeCommand& command) {
  OptimizeOptions& options = command.options;
  CLI::App* optimize = app.add_subcommand(
      "optimize", "fusion, tiles, memory and placement together: a set of plans, each the best in its way");
  add_step_on_machine(*optimize, command.model, command.on, options.evaluate);
  add_budgets(*optimize, options.budgets, options.deadline);
  optimize->add_option("--objective", options.objective, "latency, energy or edp")
      ->check(one_of({"latency", "energy", "edp"}))
      ->type_name("WHAT")
      ->capture_default_str();
  const OptionGroup what(*optimize, "What may be done");
  what.off("--no-fuse", options.fuse, "fuse nothing");
  what.off("--no-memory", options.decide, "keep everything, in the plan's order");
  what.off("--no-place", options.place, "cores as the policy chooses them");
  what.off("--no-recompute", options.recompute, "recompute nothing");
  what.off("--no-page", options.page, "page nothing");
  what.off("--no-page-weights", options.page_static, "keep weights and optimizer state in memory");
  what.off("--no-reorder", options.reorder, "keep to the plan's order");
  what.add("--limit", options.limit, "operators of a stack")->check(CLI::Range(1, 16))->capture_default_str();
  const OptionGroup effort(*optimize, "Effort");
  const auto number = [&](const char* name, std::size_t& value, const char* meaning) {
    effort.add(name, value, meaning)->check(CLI::Range(1, 100000000))->capture_default_str();
  };
  number("--rounds", options.rounds, "of memory, with a search for cores between them");
  number("--evaluations", options.evaluations, "plans that are priced for one budget");
  number("--population", options.population, "of the search for cores");
  number("--generations", options.generations, "of the search for cores");
  number("--plans", options.plans, "that are given back, at most");
  effort.add("--seed", options.seed, "of random choices")->capture_default_str();
  add_time_limit(effort, options.time_limit_s);
  OptionGroup(*optimize, "Output")
      .add("-o,--output", command.output, "write the plans, plans.csv, result.json and report.html into this folder",
           "DIR");
  add_common(*optimize, command.common);
  optimize->footer(
      "Examples:\n"
      "  monet optimize resnet18-cifar --batch 4 --hardware monet_2x2 -o plans\n"
      "  monet optimize gpt2-tiny --hardware edge_tpu --memory-budget 90% --objective edp\n"
      "  monet evaluate resnet18-cifar --batch 4 --hardware monet_2x2 --plan plans/plan_000.yaml\n\n"
      "Ctrl-C and --time-limit give the best that was found. Exit status 2: nothing fits.\n\n" +
      network_help());
}

}  // namespace monet::cli
