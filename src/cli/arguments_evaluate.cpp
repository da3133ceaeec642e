#include "cli/arguments.h"

#include <fmt/format.h>

namespace monet::cli {

namespace {

void add_evaluate_outputs(CLI::App& evaluate, EvaluateCommand& command) {
  const OptionGroup group(evaluate, "Output");
  const auto rows = [&](const char* name, std::size_t& number, const char* meaning) {
    group.add(name, number, meaning, "N")->check(CLI::Range(0, 1000000000))->capture_default_str();
  };
  const auto file = [&](const char* name, std::string& path, const char* meaning) {
    group.add(name, path, meaning, "FILE");
  };
  rows("--operators", command.view.operators, "rows of the table of operators; 0: all");
  rows("--tensors", command.view.tensors, "tensors at the peak of memory that are listed; 0: all");
  group.add("-o,--output", command.folder,
            "write result.json, operators.csv, lifetimes.csv, trace.json, chakra.et, plan.yaml, and report.html, a "
            "page to look at, into this folder",
            "DIR");
  file("--csv", command.csv, "write a line for each operator");
  file("--trace", command.trace, "write the schedule for ui.perfetto.dev or chrome://tracing");
  file("--chakra", command.chakra, "write the schedule as a Chakra execution trace");
  file("--lifetimes", command.lifetimes, "write a line for each buffer: memory, times, bytes, address");
  file("--save-plan", command.plan, "write the plan, complete: it gives the same result again");
}

}  // namespace

void add_schedule_options(CLI::App& command, MachineNames& on, StepRequest& options) {
  OptionGroup(command, schedule_title)
      .add("--plan", on.plan, "stacks, tiles, cores, order, recomputing, paging; rest by policy", "FILE");
  CommandLine to(command, options);
  describe_schedule(to);
}

void add_evaluate(CLI::App& app, EvaluateCommand& command) {
  CLI::App* evaluate =
      app.add_subcommand("evaluate", "a training step on a machine, in time: latency, energy, memory, and why");
  add_model(*evaluate, command.model, command.options.train);
  add_machine(*evaluate, command.on, command.options.train);
  evaluate->add_flag("--inference", command.options.inference,
                     "the forward part alone; what only the backward part needs is not kept");
  CommandLine to(*evaluate, command.options);
  describe_mapping_search<StepRequest>(to);
  add_step_options(*evaluate, command.options.train);
  add_schedule_options(*evaluate, command.on, command.options);
  describe_parallel(to);
  describe_evaluation(to);
  evaluate
      ->add_flag("--suggest", command.suggest,
                 "try other options (numbers, lowering, order, batch) and list those that help, however long it "
                 "takes; a text and a folder do so by themselves where the step has up to 1,000 tiles or launches")
      ->group(schedule_title);
  add_evaluate_outputs(*evaluate, command);
  add_common(*evaluate, command.common);
  evaluate->footer(
      "Examples:\n"
      "  monet evaluate resnet18 --hardware edge_tpu\n"
      "  monet evaluate resnet18-cifar --batch 4 --hardware edge_tpu --set x=2 --set y=2 -o results\n"
      "  monet evaluate gpt2-tiny --hardware h100 --precision bf16 --inference --json\n"
      "  monet evaluate net.onnx --hardware machine.yaml --save-plan plan.yaml\n"
      "  monet evaluate net.onnx --hardware machine.yaml --plan plan.yaml --trace trace.json\n"
      "  monet evaluate gpt2-small --hardware dgx_h100 --chips 8 --parallel tp=2,zero=1 --batch 16\n\n"
      "Exit status: 0 done; 1 something given is wrong; 2 it does not fit the machine's memory, with what could be\n"
      "done about it; 3 a defect of monet.\n\n" +
      network_help());
}

void add_pack(CLI::App& app, PackCommand& command) {
  CLI::App* pack = app.add_subcommand("pack", "addresses for buffers with lifetimes, in as little memory as can be");
  pack->add_option("FILE", command.file, "a CSV file: a heading with id,lower,upper,size and a line for each buffer")
      ->type_name("FILE")
      ->required();
  pack->add_option("--capacity", command.capacity, "bytes, or as in 1MiB; as little as can be found by default")
      ->type_name("SIZE");
  pack->add_option("--time-limit", command.time_limit_s,
                   "search for so long; by default a fixed amount of search, a few seconds at most")
      ->type_name("SECONDS");
  pack->add_option("-o,--output", command.output, "write the buffers with their offsets")->type_name("OUT.csv");
  add_common(*pack, command.common);
  pack->footer(
      "A buffer is alive from lower to before upper. A column alignment may say of what its offset must be a "
      "multiple.\n"
      "Exit status 2: they do not fit; the message has the largest load, the shortfall and the buffers alive there.\n\n"
      "Examples:\n"
      "  monet pack buffers.csv\n"
      "  monet pack buffers.csv --capacity 1MiB -o placed.csv\n"
      "  monet pack buffers.csv --capacity 1048576 --time-limit 60 --json\n\n"
      "A file:\n"
      "  id,lower,upper,size,alignment\n"
      "  weights,0,9,4096,64\n"
      "  activation,2,5,1000,1\n");
}

void add_validate(CLI::App& app, ValidateCommand& command) {
  CLI::App* validate = app.add_subcommand("validate", "accuracy against reference measurements, % error a row");
  std::string names = "Validations:\n";
  for (const ValidationInfo& info : validations()) names += fmt::format("  {:<22} {}\n", info.name, info.description);
  validate->add_option("NAME", command.name, "which; all that are quick by default")
      ->check(name_or_file(Offer::validations));
  validate->add_option("--data", command.options.data, "the folder with groundtruth/, models/ and validation/")
      ->type_name("DIR");
  validate->add_option("--only", command.options.only, "rows whose case matches; * and ? as in a shell")
      ->type_name("PATTERN");
  validate->add_option("--jobs", command.options.jobs, "threads; all processors by default")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  add_common(*validate, command.common);
  validate->footer(
      "Examples:\n  monet validate silicon\n  monet validate counts --json\n  monet validate h200 --only 'resnet18, "
      "batch 8, *'\n\n" +
      names);
}

}  // namespace monet::cli
