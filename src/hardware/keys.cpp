#include "hardware/keys.h"

#include "graph/nests.h"

#include <algorithm>
#include <array>

namespace monet {

namespace {

using Keys = std::vector<Key>;

const Keys common_cost_keys = {
    {.name = "static_power",
     .form = Form::quantity,
     .meaning = "power of one instance, whether it works or not",
     .measure = Measure::power},
    {.name = "area", .form = Form::quantity, .meaning = "area of one instance", .measure = Measure::area},
};

const Keys domain = {
    {.name = "clock",
     .form = Form::quantity,
     .meaning = "clock of this part; left out: that of the block around it",
     .measure = Measure::frequency},
    {.name = "technology",
     .form = Form::quantity,
     .meaning = "technology node, for costs that are left out",
     .measure = Measure::length},
};

const Keys include = {{.name = "include",
                       .form = Form::names,
                       .meaning = "files (or presets) whose keys are taken where this block does not state them"}};

const Keys repeat_keys = {
    {.name = "count", .form = Form::integer, .meaning = "how many there are; names get a number: pe0, pe1 …"},
    {.name = "grid", .form = Form::integers, .meaning = "rows and columns: pe0_0, pe0_1 …"},
};

const Keys parts_keys = {
    {.name = "memories",
     .form = Form::blocks,
     .meaning = "memories beside the cores: shared, off-chip, storage",
     .block = memory_block},
    {.name = "cores", .form = Form::blocks, .meaning = "the cores, by name", .block = core_block},
    {.name = "clusters",
     .form = Form::blocks,
     .meaning = "parts with cores, memories and links of their own",
     .block = cluster_block},
    {.name = "links",
     .form = Form::block_list,
     .meaning = "connections between cores and memories",
     .block = link_block},
};

const Keys memory_keys = {
    {.name = "kind",
     .form = Form::choice,
     .meaning = "what it is made of; left out: sram",
     .choices = {"registers", "sram", "dram", "storage"}},
    {.name = "type", .meaning = "type of DRAM, from which its energy is derived when left out: LPDDR4, HBM2e …"},
    {.name = "size", .form = Form::quantity, .meaning = "capacity of one instance", .measure = Measure::size},
    {.name = "ports", .form = Form::blocks, .meaning = "its ports, by name", .block = port_block},
    {.name = "read_energy",
     .form = Form::quantity,
     .meaning = "for one whole word; left out: derived",
     .measure = Measure::access_energy},
    {.name = "write_energy",
     .form = Form::quantity,
     .meaning = "for one whole word; left out: derived",
     .measure = Measure::access_energy},
    {.name = "latency", .form = Form::quantity, .meaning = "from request to data", .measure = Measure::time},
    {.name = "read_latency",
     .form = Form::quantity,
     .meaning = "where reading and writing differ (storage)",
     .measure = Measure::time},
    {.name = "write_latency",
     .form = Form::quantity,
     .meaning = "where reading and writing differ (storage)",
     .measure = Measure::time},
    {.name = "page", .form = Form::quantity, .meaning = "smallest piece that moves", .measure = Measure::size},
    {.name = "double_buffered",
     .form = Form::boolean,
     .meaning = "half of it is filled while the other half is read, always; left out: false"},
    {.name = "network_energy",
     .form = Form::quantity,
     .meaning = "of the wires to what it feeds; left out: 0",
     .measure = Measure::energy_per_bit},
};

const Keys level_keys = {
    {.name = "use", .meaning = "a memory of the system as a level of this core"},
    {.name = "paths",
     .form = Form::names,
     .meaning = "what passes here: input (activations, gradients), weight, output; left out: all three"},
    {.name = "serves",
     .form = Form::names,
     .meaning = "array dimensions that one instance feeds; all; gang. Left out: registers none, others all"},
    {.name = "link", .meaning = "name of the link to the level below; none: attached directly"},
};

const Keys unit_keys = {
    {.name = "operations",
     .form = Form::blocks,
     .meaning = "what one lane can do: cycles and energy by kind, or `arithmetic`, or `all`",
     .block = operation_block,
     .names = Names::kinds,
     .short_for = "cycles"},
    {.name = "precisions",
     .form = Form::blocks,
     .meaning = "number formats; left out: every one at the same rate and energy",
     .block = precision_block,
     .names = Names::precisions,
     .short_for = "rate"},
    {.name = "fill", .form = Form::cycles, .meaning = "cycles to fill and drain the pipeline, once for each nest"},
    {.name = "area", .form = Form::quantity, .meaning = "area of the whole unit", .measure = Measure::area},
};

const Key operation_rates_key = {.name = "operations",
                                 .form = Form::blocks,
                                 .meaning = "operations a second by kind, or `arithmetic`, or `all`; a MAC is one",
                                 .block = rate_value_block,
                                 .names = Names::kinds,
                                 .short_for = "value"};

const Keys precision_keys = {
    {.name = "rate", .form = Form::number, .meaning = "operations relative to `cycles`; left out: 1"},
    {.name = "energy",
     .form = Form::number,
     .meaning = "relative to the operation's energy; left out: derived where the energies are, else 1"},
    {.name = "accumulate", .meaning = "precision of partial sums; left out: the same"},
};

const Key dimensions_key = {.name = "dimensions",
                            .form = Form::blocks,
                            .meaning = "the array's dimensions, by name",
                            .block = dimension_block,
                            .short_for = "size"};

}  // namespace

const Block& machine_block() {
  static const Block block = {
      "machine",
      joined(
          {{{.name = "monet", .form = Form::integer, .meaning = "version of the format: 1"},
            {.name = "name", .meaning = "name of the machine"},
            {.name = "description", .meaning = "one sentence about it"}},
           include,
           {{.name = "parameters",
             .form = Form::blocks,
             .meaning = "parameters of the family, each with its default",
             .block = parameter_block,
             .short_for = "value"},
            {.name = "energies",
             .form = Form::choice,
             .meaning = "by size: what a parameter makes larger costs more; fixed: costs stay as they are written",
             .choices = {"by size", "fixed"}},
            {.name = "peak",
             .form = Form::blocks,
             .meaning = "operations a second that the maker states, by precision: checked against units x rate x clock",
             .block = rate_value_block,
             .names = Names::precisions,
             .short_for = "value"},
            {.name = "validated",
             .form = Form::blocks,
             .meaning = "how well results were compared with measurements, by lowering: eager …",
             .block = validated_block},
            {.name = "recipe",
             .meaning =
                 "number formats for networks whose own it does not work in, where no --precision says otherwise"},
            {.name = "effects",
             .form = Form::block,
             .meaning = "what the model counts beyond plain loops",
             .block = effects_block},
            {.name = "chips",
             .form = Form::block,
             .meaning = "one of the chips that the fabric joins; left out: what stands beside `fabric`",
             .block = machine_block},
            {.name = "fabric",
             .form = Form::block_list,
             .meaning = "the network between equal chips, level by level, innermost first",
             .block = fabric_level_block},
            {.name = "notes", .form = Form::names, .meaning = "remarks that are shown with the machine"}},
           domain,
           common_cost_keys,
           parts_keys,
           provenance_keys()})};
  return block;
}

const Block& cluster_block() {
  static const Block block = {"cluster",
                              joined({repeat_keys, include, domain, common_cost_keys, parts_keys, provenance_keys()})};
  return block;
}

const Block& parameter_block() {
  static const Block block = {"parameter",
                              {{.name = "value", .form = Form::parameter, .meaning = "the default"},
                               {.name = "minimum", .form = Form::parameter, .meaning = "smaller values are an error"},
                               {.name = "maximum", .form = Form::parameter, .meaning = "larger values are an error"},
                               {.name = "one_of", .form = Form::names, .meaning = "it is a word, one of these"},
                               {.name = "description", .meaning = "what it is"}}};
  return block;
}

const Block& effects_block() {
  static const Block block = {
      "effects",
      {{.name = "fill_drain", .form = Form::boolean, .meaning = "pipelines are filled and drained"},
       {.name = "memory_latency", .form = Form::boolean, .meaning = "the first access waits for its memory"},
       {.name = "energy_by_precision", .form = Form::boolean, .meaning = "narrow operations cost less"},
       {.name = "static_energy", .form = Form::boolean, .meaning = "power that flows all the time"},
       {.name = "network_energy", .form = Form::boolean, .meaning = "wires inside a core"}}};
  return block;
}

const Block& memory_block() {
  static const Block block = {"memory", joined({memory_keys, include, domain, common_cost_keys, provenance_keys()})};
  return block;
}

const Block& level_block() {
  static const Block block = {"memory of a core",
                              joined({level_keys, memory_keys, include, domain, common_cost_keys, provenance_keys()})};
  return block;
}

const Block& port_block() {
  static const Block block = {
      "port",
      {{.name = "kind",
        .form = Form::choice,
        .meaning = "left out: read_write",
        .choices = {"read", "write", "read_write"}},
       {.name = "width",
        .form = Form::range,
        .meaning = "bandwidth: a whole word a cycle; two values: smallest access, whole word",
        .measure = Measure::bandwidth},
       {.name = "word",
        .form = Form::range,
        .meaning = "what one access moves, where it is not the width; two values: smallest access, whole word",
        .measure = Measure::size},
       {.name = "moves",
        .form = Form::names,
        .meaning = "which data: `weight to_low`, `output`, `from_high`; left out: whatever fits its kind, all paths"}}};
  return block;
}

const Block& core_block() {
  static const Block block = {
      "core",
      joined(
          {repeat_keys,
           include,
           {{.name = "operators",
             .form = Form::names,
             .meaning =
                 "operators, families or patterns that it may run (!Add: not that); left out: whatever its units can"},
            {.name = "type", .meaning = "cores of one type are equal; left out: the name of this block"},
            {.name = "dataflow",
             .form = Form::blocks,
             .meaning = "how to unroll where a mapping does not say: loops and sizes by dimension of the array",
             .block = dataflow_block},
            {.name = "array", .form = Form::block, .meaning = "a compute array", .block = array_block},
            {.name = "vector", .form = Form::block, .meaning = "lanes for other operations", .block = vector_block},
            {.name = "rate", .form = Form::block, .meaning = "what was measured on it, instead", .block = rate_block},
            {.name = "kernels",
             .form = Form::block,
             .meaning = "it is a graphics processor, and runs a step kernel by kernel: laws of their costs, as `monet "
                        "calibrate` writes them; what is left out follows from peaks, gang and memories",
             .block = kernels_block},
            {.name = "gang", .form = Form::integer, .meaning = "equal cores that work as one; left out: 1"},
            {.name = "memories", .form = Form::blocks, .meaning = "its memories, lowest first", .block = level_block}},
           domain,
           common_cost_keys,
           provenance_keys()})};
  return block;
}

const Block& array_block() {
  static const Block block = {
      "array", joined({{dimensions_key},
                       unit_keys,
                       {{.name = "cycle_rule",
                         .meaning = "cycles of a product as an expression over rows, columns, depth, batch, rate"},
                        {.name = "energy_per_cycle",
                         .form = Form::quantity,
                         .meaning = "of each cycle of the rule, lanes at work or not; left out: 0",
                         .measure = Measure::energy_per_cycle}},
                       provenance_keys()})};
  return block;
}

const Block& vector_block() {
  static const Block block = {
      "vector", joined({{{.name = "lanes", .form = Form::integer, .meaning = "how many work at the same time"},
                         {.name = "loops",
                          .form = Form::names,
                          .meaning = "loops of products that may run across the lanes: G …; left out: any"}},
                        unit_keys,
                        provenance_keys()})};
  return block;
}

const Block& rate_block() {
  static const Block block = {
      "rate", joined({{operation_rates_key,
                       {.name = "energy",
                        .form = Form::blocks,
                        .meaning = "energy of one operation by kind, or `arithmetic`, or `all`",
                        .block = energy_value_block,
                        .names = Names::kinds,
                        .short_for = "value"},
                       {.name = "power",
                        .form = Form::quantity,
                        .meaning = "while it works: the energy of operations that state none is power x time",
                        .measure = Measure::power},
                       {.name = "precisions",
                        .form = Form::blocks,
                        .meaning = "number formats; left out: every one at the same rate and energy",
                        .block = rate_precision_block,
                        .names = Names::precisions,
                        .short_for = "rate"}},
                      provenance_keys()})};
  return block;
}

const Block& rate_value_block() {
  static const Block block = {
      "rate of an operation",
      joined({{{.name = "value", .form = Form::quantity, .meaning = "operations a second", .measure = Measure::rate}},
              provenance_keys()})};
  return block;
}

const Block& energy_value_block() {
  static const Block block = {
      "energy of an operation",
      joined({{{.name = "value", .form = Form::quantity, .meaning = "energy of one", .measure = Measure::energy}},
              provenance_keys()})};
  return block;
}

const Block& dimension_block() {
  static const Block block = {"dimension",
                              {{.name = "size", .form = Form::integer, .meaning = "units along it"},
                               {.name = "loops",
                                .form = Form::names,
                                .meaning = "loops that may be unrolled here: K, C, OX …; left out: any"}}};
  return block;
}

const Block& dataflow_block() {
  static const Block block = [] {
    Block made{"dataflow", {}};
    static const std::vector<std::string> names = [] {
      std::vector<std::string> all;
      for (std::size_t i = 0; i < static_cast<std::size_t>(Dim::A0); ++i) all.push_back(name_of(static_cast<Dim>(i)));
      return all;
    }();
    for (const std::string& name : names)
      made.keys.push_back({.name = name, .form = Form::integer, .meaning = "steps of this loop at the same time"});
    return made;
  }();
  return block;
}

const Block& operation_block() {
  static const Block block = {"operation",
                              joined({{{.name = "cycles",
                                        .form = Form::cycles,
                                        .meaning = "cycles between two operations of one lane; left out: 1"},
                                       {.name = "energy",
                                        .form = Form::quantity,
                                        .meaning = "of one operation; left out: derived",
                                        .measure = Measure::energy}},
                                      provenance_keys()})};
  return block;
}

const Block& precision_block() {
  static const Block block = {"precision", joined({precision_keys, provenance_keys()})};
  return block;
}

const Block& rate_precision_block() {
  static const Block block = {"precision of a rate",
                              joined({precision_keys,
                                      {operation_rates_key,
                                       {.name = "operation_energy",
                                        .form = Form::blocks,
                                        .meaning = "energy of one of these operations, by kind; left out: power x time",
                                        .block = energy_value_block,
                                        .names = Names::kinds,
                                        .short_for = "value"}},
                                      provenance_keys()})};
  return block;
}

const Block& link_block() {
  static const Block block = {
      "link",
      joined(
          {{{.name = "link", .form = Form::names, .meaning = "joins two parts"},
            {.name = "bus", .form = Form::names, .meaning = "joins any number; one transfer at a time"},
            {.name = "star", .form = Form::names, .meaning = "the first joined to each of the others"},
            {.name = "mesh", .form = Form::names, .meaning = "neighbours of a grid"},
            {.name = "torus", .form = Form::names, .meaning = "neighbours of a grid that closes on itself"},
            {.name = "ring", .form = Form::names, .meaning = "each to the next, the last to the first"},
            {.name = "tree", .form = Form::names, .meaning = "each to `arity` children, in order"},
            {.name = "all_to_all", .form = Form::names, .meaning = "every pair"},
            {.name = "grid", .form = Form::integers, .meaning = "of a mesh or torus whose parts have none"},
            {.name = "arity", .form = Form::integer, .meaning = "children of a part in a tree; left out: 2"},
            {.name = "name", .meaning = "of the link; left out: made from its ends"},
            {.name = "width", .form = Form::quantity, .meaning = "bandwidth each way", .measure = Measure::bandwidth},
            {.name = "latency", .form = Form::quantity, .meaning = "left out: 0", .measure = Measure::time},
            {.name = "energy", .form = Form::quantity, .meaning = "left out: 0", .measure = Measure::energy_per_bit},
            {.name = "energy_per_cycle",
             .form = Form::quantity,
             .meaning = "while it is in use; left out: 0",
             .measure = Measure::energy_per_cycle},
            {.name = "one_way", .form = Form::boolean, .meaning = "from the first to the second only; left out: false"},
            {.name = "clock",
             .form = Form::quantity,
             .meaning = "clock of this part; left out: that of the block around it",
             .measure = Measure::frequency}},
           common_cost_keys,
           provenance_keys()})};
  return block;
}

}  // namespace monet
