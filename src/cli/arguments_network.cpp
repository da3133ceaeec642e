#include "cli/arguments.h"

#include "training/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet::cli {

namespace {

void add_recompute_options(CLI::App& train, std::string& plan, RecomputeOptions& options) {
  const OptionGroup group(train, "Recomputing");
  group.add("--plan", plan, "a plan: what it recomputes is computed again in the backward part", "FILE");
  group
      .add("--recompute", options.recompute,
           "saved tensors to compute again; * and ? match; blocks: all inside residual and transformer blocks", "NAME")
      ->allow_extra_args(false);
  group.add("--keep", options.keep, "those of them that are kept all the same", "NAME")->allow_extra_args(false);
  group.flag("--force", options.force,
             "use a plan that was made for another network; with --simulate: also what takes hours");
}

}  // namespace

void add_inspect(CLI::App& app, InspectCommand& command) {
  CLI::App* inspect = app.add_subcommand("inspect", "what a network computes: parameters, MACs, operations, tensors");
  add_model(*inspect, command.model, command.options);
  inspect->add_flag("--layers", command.layers, "a line for each layer");
  add_common(*inspect, command.common);
  inspect->footer(
      "Examples:\n"
      "  monet inspect resnet18\n"
      "  monet inspect gpt2:layers=2,width=384,heads=6 --batch 8\n"
      "  monet inspect net.onnx --dim sequence=128 --layers\n"
      "  monet inspect net.onnx --json > net.json\n\n" +
      network_help());
}

void add_networks(CLI::App& app, NetworksCommand& command) {
  CLI::App* networks = app.add_subcommand("networks", "the networks that come with the program, and their sizes");
  networks->add_option("NAME", command.name, "this one alone, with what each of its sizes means")
      ->check(name_or_file(Offer::networks));
  add_common(*networks, command.common);
  networks->footer(
      "Examples:\n"
      "  monet networks\n"
      "  monet networks gpt2\n"
      "  monet networks --json > networks.json");
}

void add_precision(CLI::App& command, TrainOptions& options, bool widths) {
  std::vector<std::string> words = training::recipe_names();
  std::string help = fmt::format("which numbers it is made of: a recipe ({}), or the file of one (docs/precision.md)",
                                 fmt::join(words, ", "));
  if (widths) {
    const std::vector<std::string> all = {"fp8", "int16", "int8", "int4"};
    help +=
        fmt::format("; or a width at which every element is costed, and nothing converted: {}", fmt::join(all, ", "));
    words.insert(words.end(), all.begin(), all.end());
  }
  command.add_option("--precision", options.precision, help + "; the file's own by default")
      ->check(such_as(words))
      ->type_name("RECIPE");
}

void add_train(CLI::App& app, TrainCommand& command) {
  CLI::App* train = app.add_subcommand("train", "the complete training step of a network: gradients, loss, optimizer");
  add_model(*train, command.model, command.options);
  add_step_options(*train, command.options);
  add_recompute_options(*train, command.plan, command.recompute);
  add_simulate_options(*train, command);
  add_precision(*train, command.options, false);
  train->add_option("-o,--output", command.output, "write the step as a standard ONNX file")->type_name("OUT.onnx");
  train->add_flag("--saved", command.view.saved, "a line for each saved tensor");
  train->add_flag("--parameters", command.view.parameters, "a line for each parameter: trained or frozen");
  train->add_flag("--layers", command.view.layers, "a line for each node of the step");
  add_common(*train, command.common);
  train->footer(
      "Examples:\n"
      "  monet train resnet18 --batch 8\n"
      "  monet train gpt2-tiny --optimizer adamw --clip-norm 1 --saved\n"
      "  monet train net.onnx --loss mse --optimizer sgd -o step.onnx\n"
      "  monet train resnet50 --freeze 'layer1.*' --freeze 'layer2.*'\n"
      "  monet train gpt2-small --batch 4 --recompute blocks -o step.onnx\n"
      "  monet train bert-base --lora 8 --precision mixed\n"
      "  monet train resnet18 --batch 32 --precision mxfp8-square\n"
      "  monet train mlp-robotics --simulate 500 --precision mxfp8 --compare fp32,bf16 --csv curves.csv\n\n" +
      network_help());
}

void add_map(CLI::App& app, MapCommand& command) {
  MapOptions& options = command.options;
  CLI::App* map =
      app.add_subcommand("map", "operators on the cores of a machine, each by itself: cycles, energy, traffic");
  add_model(*map, command.model, options.train);
  add_machine(*map, command.on, options.train);
  CommandLine to(*map, options);
  describe_mapping_search<MapOptions>(to);
  map->add_flag("--training", options.training, "the whole training step; the file as it is by default");
  map->add_option("--optimizer", options.train.optimizer, "of the training step")
      ->type_name("NAME")
      ->capture_default_str();
  map->add_option("--core", options.core, "only this core; the best for each operator by default")->type_name("NAME");
  describe_lowering<MapOptions>(to);
  map->add_option("--layer", options.layers, "only operators of this name (* and ? stand for others)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  map->add_flag("--on-chip", options.on_chip, "operands start and end in the core's own memories, not off chip");
  map->add_option("--mapping", options.mapping_file, "unrolling and loop orders to keep to: ZigZag's mapping file")
      ->type_name("FILE");
  map->add_flag("--full", options.full, "eight pieces: slower, sometimes better");
  map->add_flag_function(
      "--no-refine", [&options](std::int64_t) { options.refine = false; },
      "leave out the search for better sizes of the pieces");
  map->add_flag("--zigzag", options.zigzag, "the search and the rules of ZigZag 3.8.5, its known defects included");
  map->add_flag("--non-negative", options.non_negative, "with --zigzag: without its negative loading times");
  map->add_flag("--nests", command.view.nests, "the loops of each operator, with what each memory holds");
  map->add_option("--csv", command.csv, "write a line for each operator to this file")->type_name("FILE");
  add_common(*map, command.common);
  map->footer(
      "Examples:\n"
      "  monet map resnet18 --hardware edge_tpu\n"
      "  monet map resnet18 --training --hardware edge_tpu --set x=2 --set y=2 --objective edp\n"
      "  monet map net.onnx --hardware machine.yaml --layer 'conv*' --nests\n"
      "  monet map net.onnx --hardware tpu_like.yaml --mapping mapping.yaml --zigzag --csv layers.csv\n\n" +
      network_help());
}

}  // namespace monet::cli
