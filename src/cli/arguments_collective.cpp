#include "cli/arguments.h"

namespace monet::cli {

void add_collective(CLI::App& app, CollectiveCommand& command) {
  CLI::App* collective = app.add_subcommand("collective", "what one collective costs between the chips of a machine");
  collective->add_option("KIND", command.options.kind, "which: all_reduce, all_gather …")
      ->required()
      ->check(one_of({"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send"}));
  collective
      ->add_option("--bytes", command.bytes,
                   "of the whole tensor: 1GiB. Of an all-gather, and before a reduce-scatter, all shards together")
      ->required()
      ->type_name("SIZE");
  collective->add_option("--hardware", command.hardware, "a preset or a file with a fabric: dgx_h100")
      ->required()
      ->type_name("H")
      ->check(name_or_file(Offer::machines));
  add_parameters(*collective, command.parameters);
  collective->add_option("--chips", command.options.chips, "how many; left out: those of the mesh, or of the machine")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  collective
      ->add_option_function<std::vector<std::string>>(
          "--mesh",
          [&command](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) command.options.mesh.push_back(parse_dimension(text));
          },
          "axes of the chips, outermost first: dp=8,tp=8; chips along the last are neighbours")
      ->type_name("AXES")
      ->delimiter(',')
      ->allow_extra_args(false);
  collective->add_option("--over", command.options.over, "the axes along which a group lies: dp")
      ->type_name("AXES")
      ->delimiter(',')
      ->allow_extra_args(false);
  collective->add_option("--algorithm", command.options.algorithm, "how; left out: the fastest")
      ->type_name("HOW")
      ->check(one_of({"ring", "tree", "halving", "direct", "in_switch", "hierarchical"}));
  add_common(*collective, command.common);
  collective->footer(
      "Examples:\n"
      "  monet collective all_reduce --bytes 1GiB --hardware dgx_h100 --chips 64\n"
      "  monet collective all_gather --bytes 256MiB --hardware dgx_h100 --mesh dp=16,tp=8 --over dp\n"
      "  monet collective all_to_all --bytes 64MiB --hardware tpu_v4_pod --chips 512 --algorithm direct --json");
}

}  // namespace monet::cli
