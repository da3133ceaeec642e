#include "evaluate/cost/custom_cost.h"

#include "graph/custom.h"
#include "graph/nests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace monet {

namespace {

void add(std::string& key, std::string_view text) { key += fmt::format("{}:{}", text.size(), text); }

void add(std::string& key, const std::vector<std::vector<std::int64_t>>& shapes) {
  for (const auto& shape : shapes) key += fmt::format("[{}]", fmt::join(shape, ","));
  key += ';';
}

// Cycles and pJ: far above any step, and no sum of them is infinite.
constexpr double largest_cost = 1e18;

Status check(const CustomTile& tile, const char* what, double value) {
  const std::string has = fmt::format("the cost given for {} on core {} has {} {}", tile.op, tile.core, value, what);
  if (!std::isfinite(value) || value < 0) {
    return Error{.message = has, .place = {}, .advice = "give a finite number that is not negative"};
  }
  if (value > largest_cost) {
    return Error{.message = fmt::format("{}, which is more than {}", has, largest_cost),
                 .place = {},
                 .advice = fmt::format("give at most {} {}", largest_cost, what)};
  }
  return Done{};
}

struct AskedOnce {
  struct Known {
    CustomCosts costs;
    std::mutex mutex;
    std::unordered_map<std::string, std::optional<CustomCost>> answers;
  };
  std::shared_ptr<Known> known;

  Expected<std::optional<CustomCost>> operator()(const CustomTile& tile) const {
    std::string key = key_of(tile);
    const std::scoped_lock lock(known->mutex);
    if (const auto found = known->answers.find(key); found != known->answers.end()) return found->second;
    auto answer = known->costs(tile);
    if (!answer) return answer;
    if (const auto& cost = *answer) {
      if (const Status cycles = check(tile, "cycles", cost->cycles); !cycles) return cycles.error();
      if (const Status energy = check(tile, "pJ", cost->energy_pj); !energy) return energy.error();
    }
    known->answers.emplace(std::move(key), *answer);
    return answer;
  }
};

}  // namespace

CustomTile custom_tile(const Graph& graph, const Node& node, const std::string& precision) {
  CustomTile tile{.op = operator_type(node), .core = {}, .precision = precision};
  const OperatorSite site = site_of(graph, node);
  const auto add_loop = [&](const Loop& loop) {
    const std::string name = name_of(loop.name);
    const bool known = std::ranges::any_of(tile.loops, [&](const auto& other) { return other.first == name; });
    if (!known) tile.loops.emplace_back(name, loop.size);
  };
  if (node.op == Op::Custom) {
    for (const Loop& loop : loops_over(site.out(0))) add_loop(loop);
    for (const auto& [name, value] : custom_operator(node.attributes).attributes) {
      tile.attributes.emplace_back(name, to_text(value));
    }
  } else {
    for (const Nest& nest : nests_of(site).nests) std::ranges::for_each(nest.loops, add_loop);
    for (const auto& [key, value] : node.attributes) {
      tile.attributes.emplace_back(std::string(name_of(key)), to_text(value));
    }
  }
  const TensorType* first = nullptr;
  for (const TensorType* input : site.inputs) {
    if (first == nullptr) first = input;
    tile.input_shapes.push_back(input != nullptr ? input->shape : Shape{});
  }
  for (const TensorType* output : site.outputs) {
    if (first == nullptr) first = output;
    tile.output_shapes.push_back(output != nullptr ? output->shape : Shape{});
  }
  if (tile.precision.empty()) tile.precision = name_of(first->format.element);
  return tile;
}

std::string key_of(const CustomTile& tile) {
  std::string key;
  for (const std::string* text : {&tile.op, &tile.core, &tile.precision}) add(key, *text);
  for (const auto& [name, size] : tile.loops) key += fmt::format("{}{},", name, size);
  key += ';';
  add(key, tile.input_shapes);
  add(key, tile.output_shapes);
  for (const auto& [name, value] : tile.attributes) {
    add(key, name);
    add(key, value);
  }
  return key;
}

CustomCosts asked_once(CustomCosts costs) {
  if (!costs || costs.target<AskedOnce>() != nullptr) return costs;
  auto known = std::make_shared<AskedOnce::Known>();
  known->costs = std::move(costs);
  return AskedOnce{std::move(known)};
}

}  // namespace monet
