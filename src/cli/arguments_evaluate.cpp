#include "cli/arguments.h"

#include <fmt/format.h>

namespace monet::cli {

namespace {

constexpr const char* schedule_group = "Plan and schedule";

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

void add_custom_costs(const OptionGroup& group, StepRequest& options) {
  group.add("--custom", options.custom_file, "costs of operators: of those that are not known, or instead", "FILE");
}

void add_lowering(CLI::App& command, std::string& lowering) {
  command
      .add_option("--lowering", lowering,
                  "eager: kernel by kernel, as an eager framework runs it, which is the default where a core is a "
                  "graphics processor; compiled: as a fusing compiler does, with the stacks of the plan or its own; "
                  "nests: each operator its loop nest on arrays, as elsewhere")
      ->type_name("HOW")
      ->check(one_of({"eager", "compiled", "nests"}))
      ->group(schedule_group);
}

void add_schedule_options(CLI::App& command, MachineNames& on, StepRequest& options) {
  const OptionGroup group(command, schedule_group);
  group.add("--plan", on.plan, "stacks, tiles, cores, order, recomputing, paging; rest by policy", "FILE");
  add_custom_costs(group, options);
  group.add("--recompute", options.recompute,
            "saved tensors to compute again in the backward part; * and ? match; blocks: all inside blocks", "NAME");
  group.add("--keep", options.keep, "those of them that are kept all the same", "NAME");
  group.add("--page", options.page,
            "what is elsewhere between uses, and where: saved tensors, names of weights, weights, optimizer-state",
            "NAME MEMORY");
  group.flag("--force", options.force, "use a plan that was made for another network or machine");
  group.add("--order", options.order, "critical-path, graph, listed or frugal; the plan's, or critical-path", "ORDER")
      ->check(one_of({"critical-path", "graph", "listed", "frugal"}));
  group.add("--transfers", options.transfers, "from core to core: direct or memory; the plan's, or direct", "WAY")
      ->check(one_of({"direct", "memory"}));
  group.flag("--off-chip", options.off_chip,
             "every operator reads from and writes to off-chip memory, as the published flow does");
  group.flag("--zigzag", options.zigzag,
             "costs by the rules of ZigZag 3.8.5 and Stream, their known defects included, in 8 bits, off chip");
  group.off("--no-check", options.check, "leave out the independent check of the schedule");
  add_lowering(command, options.lowering);
}

void add_parallel(CLI::App& command, StepRequest& options) {
  const OptionGroup group(command, "Many chips");
  group.add("--parallel", options.parallel,
            "how the step is split over chips: dp=N, tp=N, pp=N, zero=0|1|2|3, sequence=on|off, overlap=on|off, "
            "recompute=none|selective|blocks, schedule=gpipe|1f1b|interleaved|zb-h1|zb-h2|zbv, chunks=N, "
            "cut=balanced|equal|N+N, order=dp-pp-tp, with commas",
            "WORDS");
  group.add("--chips", options.chips, "all chips; what --parallel leaves open is data parallel", "N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  group
      .add("--micro-batch", options.micro_batch,
           "samples of one chip of dp at a time; gradients add up until --batch, that of all chips, is done", "N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
}

void add_evaluate(CLI::App& app, EvaluateCommand& command) {
  CLI::App* evaluate =
      app.add_subcommand("evaluate", "a training step on a machine, in time: latency, energy, memory, and why");
  add_model(*evaluate, command.model, command.options.train);
  add_machine(*evaluate, command.on, command.options.train);
  evaluate->add_flag("--inference", command.options.inference,
                     "the forward part alone; what only the backward part needs is not kept");
  add_mapping_search(*evaluate, command.options);
  add_step_options(*evaluate, command.options.train);
  add_schedule_options(*evaluate, command.on, command.options);
  add_parallel(*evaluate, command.options);
  const OptionGroup schedule(*evaluate, schedule_group);
  schedule.off("--no-compare", command.options.compare, "leave out inference, to compare with");
  schedule.off("--no-pack", command.options.pack, "leave out addresses: memory is then what is live");
  evaluate
      ->add_flag("--suggest", command.suggest,
                 "try other options (numbers, lowering, order, batch) and list those that help, however long it "
                 "takes; a text and a folder do so by themselves where the step has up to 1,000 tiles or launches")
      ->group(schedule_group);
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
