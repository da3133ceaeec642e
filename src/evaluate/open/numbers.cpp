#include "evaluate/open/numbers.h"

#include "base/try.h"
#include "evaluate/open/opened_step.h"
#include "mapping/operators.h"
#include "networks/open.h"
#include "training/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monet {

namespace {

constexpr const char* as_published = "int8-everywhere";

// Operators of one kind on tensors of the same formats work in the same numbers.
std::string numbers_key(const Graph& graph, const Node& node) {
  std::string key(name_of(node.op));
  for (const auto* tensors : {&node.inputs, &node.outputs}) {
    key += ';';
    for (const TensorId id : *tensors) key += id.valid() ? to_string(graph[id].type.format) + "," : "-,";
  }
  return key;
}

// Whether products of the problem have an array to run on, and none that works in their numbers: lanes that could do
// them one by one are no answer.
bool arrays_lack(const Hardware& hardware, Op op, const monet::Problem& problem) {
  if (problem.per_point[Count::mac] == 0) return false;
  bool found = false;
  for (const Core& core : hardware.cores) {
    if (!may_run(core, op)) continue;
    for (const Unit& unit : core.units) {
      if (unit.name != "array" || unit.cycles[static_cast<std::size_t>(Count::mac)] == 0) continue;
      if (can_do(unit, problem)) return false;
      found = true;
    }
  }
  return found;
}

// Empty: a core runs it, or none has its operations.
std::string lacking(const Graph& graph, const Node& node, const Hardware& hardware, const ExtractOptions& extract) {
  const std::vector<monet::Problem> problems = problems_of(graph, node, extract);
  if (problems.empty() || node.op == Op::Custom) return {};
  std::vector<Counts> counts;
  for (const monet::Problem& problem : problems) counts.push_back(problem.per_point);
  std::set<std::string> types, reasons;
  for (const Core& core : hardware.cores) {
    if (!types.insert(core.type).second) continue;
    if (!cannot_run(core, node.op, std::span<const Counts>(counts)).empty()) continue;
    std::string reason = cannot_run(core, node.op, problems);
    if (reason.empty()) return {};
    reasons.insert(std::move(reason));
  }
  constexpr std::size_t shown = 3;
  std::vector<std::string> some(reasons.begin(), reasons.end());
  if (some.size() > shown) {
    some.resize(shown);
    some.emplace_back("…");
  }
  return fmt::format("{}", fmt::join(some, "; "));
}

// The network's own numbers are none of the machine's: of an operator at all, or of its arrays.
bool has_no_unit_for(const Graph& graph, const Hardware& hardware) {
  std::set<std::string> known;
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    if (node.op == Op::Custom || !known.insert(numbers_key(graph, node)).second) return false;
    if (!lacking(graph, node, hardware, {}).empty()) return true;
    const std::vector<monet::Problem> problems = problems_of(graph, node);
    return std::ranges::any_of(problems,
                               [&](const monet::Problem& each) { return arrays_lack(hardware, node.op, each); });
  });
}

}  // namespace

std::string own_numbers(const Graph& graph) {
  ElementType widest = ElementType::float32;
  int bits = 0;
  for (const Tensor& tensor : graph.tensors()) {
    const ElementType element = tensor.type.format.element;
    if (!is_floating(element) || bits_of(element) <= bits) continue;
    widest = element;
    bits = bits_of(element);
  }
  return std::string(name_of(widest));
}

std::string_view name_of(RecipeFrom from) {
  switch (from) {
    case RecipeFrom::file: return "file";
    case RecipeFrom::machine: return "machine";
    case RecipeFrom::option: break;
  }
  return "option";
}

std::optional<LackingNumbers> lacking_numbers(const Graph& graph, const Hardware& hardware,
                                              const ExtractOptions& extract) {
  std::set<std::string> known;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!known.insert(numbers_key(graph, node)).second) continue;
    std::string reason = lacking(graph, node, hardware, extract);
    if (!reason.empty()) return LackingNumbers{NodeId(i), std::move(reason)};
  }
  return std::nullopt;
}

Expected<ExtractOptions> extract_options(const std::string& precision, const std::string& products) {
  ExtractOptions extract;
  if (!precision.empty()) {
    MONET_TRY(const training::Recipe recipe, training::read_recipe(precision));
    if (recipe.products) extract.products = name_of(*recipe.products);
    extract.to_blocks = recipe.to_blocks();
  }
  if (!products.empty()) extract.products = products;
  return extract;
}

Expected<NumberChoice> choose_numbers(const Network& source, const Hardware& hardware, const TrainOptions& train,
                                      bool zigzag) {
  if (zigzag) return NumberChoice{as_published, RecipeFrom::option};
  if (!train.precision.empty()) return NumberChoice{train.precision, RecipeFrom::option};
  MONET_TRY(const std::shared_ptr<const NetworkGraph> network, source.graph(read_options(train)));
  if (!hardware.recipe.empty() && has_no_unit_for(network->graph, hardware)) {
    if (const auto read = training::read_recipe(hardware.recipe); !read) {
      return Error{.message = read.error().message,
                   .place = fmt::format("recipe of {}", hardware.name),
                   .advice = read.error().advice};
    }
    return NumberChoice{hardware.recipe, RecipeFrom::machine};
  }
  return NumberChoice{own_numbers(network->graph), RecipeFrom::file};
}

std::vector<std::string> recipes_for(const Hardware& hardware) {
  std::vector<std::string> good;
  for (const std::string& name : training::recipe_names()) {
    TrainOptions train;
    train.batch = 32;
    train.precision = name;
    train.optimizer = "sgd";
    const auto step = open_network_as_asked("mlp-robotics:inputs=32,hidden=32,layers=2,outputs=32", train, true);
    const auto extract = extract_options(name, {});
    if (step && extract && !lacking_numbers(step->graph, hardware, *extract)) good.push_back(name);
  }
  return good;
}

Status check_numbers(const Graph& graph, const Hardware& hardware, const ExtractOptions& extract,
                     const std::string& recipe) {
  const auto found = lacking_numbers(graph, hardware, extract);
  if (!found) return Done{};
  const Node& node = graph[found->node];
  const std::vector<std::string> others = recipes_for(hardware);
  std::string advice = others.empty() ? std::string("give one of its units a precision that is wide enough")
                                      : fmt::format("recipes that it can train with: {}", fmt::join(others, ", "));
  // Families that have units of other numbers have this parameter.
  const auto units = std::ranges::find(hardware.parameters, "arithmetic", &std::pair<std::string, std::string>::first);
  if (units != hardware.parameters.end()) {
    advice += fmt::format("; --set arithmetic=... gives it units of other numbers than {}", units->second);
  }
  return Error{.message = fmt::format("{} cannot run {} '{}' in the numbers of {}: {}", hardware.name, name_of(node.op),
                                      node.name, recipe, found->reason),
               .place = "--precision",
               .advice = std::move(advice)};
}

}  // namespace monet
