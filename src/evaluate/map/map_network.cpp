#include "evaluate/map/map_network.h"
#include "hardware/hardware.h"

#include "base/glob.h"
#include "base/suggest.h"
#include "base/try.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/map/mapped_nest.h"
#include "evaluate/open/numbers.h"
#include "evaluate/open/opened_step.h"
#include "graph/custom.h"
#include "mapping/constraints.h"
#include "mapping/operators.h"
#include "mapping/precision.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

Expected<CoreId> core_named(const Hardware& hardware, const std::string& name) {
  if (name.empty()) return CoreId();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < hardware.cores.size(); ++i) {
    if (hardware.cores[i].name == name) return CoreId(i);
    names.push_back(hardware.cores[i].name);
  }
  const std::string near = nearest(name, names);
  return Error{.message = fmt::format("{} has no core \"{}\"", hardware.name, name),
               .place = "--core",
               .advice = near.empty() ? fmt::format("its cores are: {}", fmt::join(names, ", "))
                                      : fmt::format("did you mean \"{}\"?", near)};
}

MappedLayer layer_of(const Graph& graph, const Hardware& hardware, const OperatorCost& cost) {
  const Node& node = graph[cost.node];
  MappedLayer layer{.name = node.name, .op = operator_type(node), .phase = std::string(name_of(node.phase))};
  layer.reason = cost.reason;
  if (!cost.core.valid()) return layer;
  layer.core = hardware[cost.core].name;
  layer.macs = cost.macs;
  layer.cycles = cost.cycles;
  layer.ideal_cycles = cost.ideal_cycles;
  layer.energy_pj = cost.energy_pj;
  layer.bound_cycles = cost.bound_cycles;
  layer.utilization = cost.cycles > 0 ? cost.ideal_cycles / cost.cycles : 0;
  for (const NestCost& nest : cost.nests) {
    const auto unit = std::ranges::find(hardware[cost.core].units, nest.unit, &Unit::name);
    layer.nests.push_back(mapped_nest(nest, unit == hardware[cost.core].units.end() ? nullptr : &*unit));
  }
  return layer;
}

// The name of a composite operator that runs in parts stands for all of them.
std::vector<std::string> with_parts(std::vector<std::string> patterns, const std::vector<std::string>& expanded) {
  const std::vector<std::string> given = patterns;
  for (const std::string& name : expanded) {
    if (std::ranges::any_of(given, [&](const std::string& p) { return matches(p, name); }))
      patterns.push_back(name + ".*");
  }
  return patterns;
}

Status check_patterns(const Graph& graph, const std::vector<std::string>& patterns,
                      const std::vector<std::string>& expanded) {
  for (const std::string& pattern : patterns) {
    if (std::ranges::any_of(expanded, [&](const std::string& name) { return matches(pattern, name); })) continue;
    const auto fits = [&](const Node& node) { return matches(pattern, node.name); };
    if (std::ranges::any_of(graph.nodes(), fits)) continue;
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) names.push_back(node.name);
    const std::string near = nearest(pattern, names);
    return Error{.message = fmt::format("no operator is named \"{}\"", pattern),
                 .place = "--layer",
                 .advice = near.empty() ? "`monet inspect MODEL --layers` lists their names; * and ? may be used"
                                        : fmt::format("did you mean \"{}\"?", near)};
  }
  return Done{};
}

Expected<NetworkMapping> on_kernels(const NetworkGraph& network, const Hardware& hardware, CoreId core,
                                    const MapOptions& options, NetworkMapping result) {
  if (core.valid() && core != kernel_core(hardware)) {
    return Error{.message = fmt::format("{} runs no kernels", hardware[core].name),
                 .place = "--core",
                 .advice = fmt::format("leave it out, or add --lowering nests to map operators on it")};
  }
  if (!options.mapping_file.empty()) {
    return Error{.message = fmt::format("a mapping has no meaning for kernels of {}", hardware.name),
                 .place = "--mapping",
                 .advice = "leave it out, or add --lowering nests"};
  }
  MONET_TRY(const ExtractOptions extract, extract_options(options.train.precision, {}));
  MONET_RETURN_IF_ERROR(check_kernel_numbers(network.graph, hardware, result.recipe, extract.products));
  return map_kernels(network, hardware, options, extract.products == "tf32", std::move(result));
}

}  // namespace

bool wants_layer(const MapOptions& options, const Node& node) {
  return options.layers.empty() ||
         std::ranges::any_of(options.layers, [&](const std::string& p) { return matches(p, node.name); });
}

Expected<NetworkMapping> map_network(const Network& source, const MapOptions& given) {
  NetworkMapping result{
      .model = source.name(), .objective = given.objective, .mode = given.zigzag ? "zigzag" : "monet"};
  MONET_TRY(const Objective objective, objective_named(given.objective));
  MONET_TRY(const std::shared_ptr<const Hardware> machine, given.machine.hardware());
  const Hardware& hardware = *machine;
  result.hardware = hardware.name;
  result.clock_hz = hardware.clock_hz;
  MONET_TRY(const CoreId core, core_named(hardware, given.core));
  MONET_TRY(const NumberChoice recipe, choose_numbers(source, hardware, given.train, given.zigzag));
  result.recipe = recipe.recipe;
  result.recipe_from = name_of(recipe.from);
  MapOptions options = given;
  options.train.precision = recipe.precision();
  StepRequest asked;
  asked.lowering = given.lowering;
  asked.zigzag = given.zigzag;
  MONET_TRY(const std::string lowering, lowering_of(hardware, asked));
  result.reach = reach_of(hardware, lowering);
  const bool kernels = lowering != nests_lowering;
  MONET_TRY(const NetworkGraph network,
            options.zigzag || kernels
                ? open_network_as_asked(source, options.train, options.training)
                : open_network_for(source, options.train, options.training, hardware, result.expanded));
  result.warnings.insert(result.warnings.end(), network.warnings.begin(), network.warnings.end());
  result.notes.insert(result.notes.end(), network.notes.begin(), network.notes.end());
  MONET_RETURN_IF_ERROR(check_patterns(network.graph, options.layers, result.expanded));
  options.layers = with_parts(std::move(options.layers), result.expanded);
  if (kernels) return on_kernels(network, hardware, core, options, std::move(result));
  if (options.zigzag) return map_like_zigzag(network, hardware, core, objective, given, std::move(result));

  OperatorOptions operators;
  operators.core = core;
  operators.search.objective = objective;
  operators.search.factors =
      static_cast<std::size_t>(options.full ? std::max(options.factors, full_factors) : options.factors);
  operators.search.refine = options.refine;
  operators.search.climb = options.full;
  operators.off_chip = !options.on_chip;
  operators.jobs = static_cast<std::size_t>(options.jobs);
  operators.stop = options.stop;
  operators.progress = options.progress;
  operators.wanted = [&](const Node& node) { return wants_layer(options, node); };
  MONET_TRY(operators.extract, extract_options(options.train.precision, {}));
  MONET_RETURN_IF_ERROR(check_numbers(network.graph, hardware, operators.extract, result.recipe));
  std::optional<MappingFile> file;
  if (!options.mapping_file.empty()) {
    MONET_TRY(file, read_mapping_file(options.mapping_file));
    operators.mapping_file = &*file;
    result.notes.insert(result.notes.end(), file->notes.begin(), file->notes.end());
  }
  std::optional<MappingStore> store;
  if (!options.cache_file.empty()) {
    MONET_TRY(store, MappingStore::open(options.cache_file));
    operators.store = &*store;
    if (store->ignored_lines() > 0) {
      result.notes.push_back(
          fmt::format("{}: {} lines are no mappings and were ignored", options.cache_file, store->ignored_lines()));
    }
  }
  MappingCache cache;
  MONET_TRY(const MappedOperators mapped, map_operators(network.graph, hardware, cache, operators));
  if (store) MONET_RETURN_IF_ERROR(store->save());
  result.unique = static_cast<std::int64_t>(mapped.unique);
  result.evaluated = mapped.evaluated;
  result.notes.insert(result.notes.end(), mapped.notes.begin(), mapped.notes.end());
  for (const OperatorCost& cost : mapped.operators) {
    if (cost.is_view) {
      ++result.views;
      continue;
    }
    MappedLayer layer = layer_of(network.graph, hardware, cost);
    if (layer.core.empty()) {
      result.unmapped.push_back(std::move(layer));
      continue;
    }
    add_layer(result, std::move(layer));
  }
  return result;
}

void add_layer(NetworkMapping& mapping, MappedLayer layer) {
  mapping.cycles += layer.cycles;
  mapping.energy_pj += layer.energy_pj;
  mapping.macs += layer.macs;
  mapping.bound_cycles += layer.bound_cycles;
  mapping.layers.push_back(std::move(layer));
}

}  // namespace monet
