// Steps with operators whose costs the test gives, evaluated and checked.
#pragma once

#include "evaluate/account/bound.h"
#include "evaluate/cost/custom_cost.h"
#include "evaluate/evaluate_case.h"
#include "graph/custom.h"

#include <map>
#include <string>
#include <vector>

namespace monet::test {

inline Attributes custom_op(const std::string& type, Shape shape,
                            std::vector<std::pair<std::string, AttributeValue>> attributes = {}) {
  return custom_attributes({.domain = "com.example",
                            .type = type,
                            .attributes = std::move(attributes),
                            .outputs = {{std::move(shape), {.element = ElementType::float32}}}});
}

// Gives costs by type and remembers what it was asked.
struct Asked {
  std::map<std::string, CustomCost> costs;  // by operator, or by operator@core
  std::vector<CustomTile> tiles;

  CustomCosts function() {
    return asked_once([this](const CustomTile& tile) -> Expected<std::optional<CustomCost>> {
      tiles.push_back(tile);
      for (const std::string& name : {tile.op + "@" + tile.core, tile.op}) {
        if (const auto found = costs.find(name); found != costs.end()) return std::optional(found->second);
      }
      return std::optional<CustomCost>();
    });
  }
  std::size_t times(const std::string& op) const {
    return static_cast<std::size_t>(std::ranges::count(tiles, op, &CustomTile::op));
  }
};

class CustomCase {
 public:
  CustomCase(Graph graph, const std::string& machine, EvaluatorOptions options, MappingCache* cache = nullptr,
             const std::string& plan = {})
      : graph_(std::move(graph)) {
    auto hardware = read_hardware_text("monet: 1\nname: machine\nclock: 1 GHz\n" + machine, "machine.yaml");
    auto read = plan_from("plan: 1\n" + plan, "plan.yaml");
    EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().text());
    if (!hardware || !read) return;
    hardware_ = *std::move(hardware);
    evaluator_ = std::make_unique<Evaluator>(graph_, hardware_, cache != nullptr ? *cache : cache_, options);
    auto request = evaluator_->bind(*read);
    EXPECT_TRUE(request.has_value()) << (request ? "" : request.error().text());
    if (!request) return;
    auto result = evaluator_->evaluate(*request);
    if (!result) {
      error = result.error();
      return;
    }
    evaluated = *std::move(result);
    const CheckReport report = check(*evaluator_, evaluated);
    EXPECT_EQ(report.count, 0U) << report.violations.front().what;
  }

  double cycles() const {
    EXPECT_TRUE(error.message.empty()) << error.text();
    return evaluated.schedule.cycles;
  }
  // The tile of an operator that has one.
  const ScheduledTile& tile(const std::string& name) const {
    for (std::size_t i = 0; i < evaluated.tiles.tiles(); ++i) {
      if (graph_[evaluated.tiles.node[i]].name == name) return evaluated.schedule.tiles[i];
    }
    ADD_FAILURE() << "no tile of " << name;
    static const ScheduledTile none;
    return none;
  }
  const TileCost& cost(const std::string& name) const { return evaluated.schedule.costs[tile(name).cost]; }
  Bounds bounds() {
    return bounds_of({graph_, hardware_, evaluated.assignment, evaluated.tiles, evaluated.schedule},
                     evaluator_->operator_bounds());
  }
  const Hardware& hardware() const { return hardware_; }

  Error error;
  Evaluated evaluated;

 private:
  Graph graph_;
  Hardware hardware_;
  MappingCache cache_;
  std::unique_ptr<Evaluator> evaluator_;
};

inline EvaluatorOptions with_costs(CustomCosts costs, std::size_t jobs = 1) {
  EvaluatorOptions options = quick_options(jobs);
  options.cost.custom = std::move(costs);
  return options;
}

// Cores that work on one memory; nothing moves.
inline std::string cores_on_one_memory(const std::string& cores) {
  return "memories:\n  " + memory("main", "sram", "1 MiB", 4096) + "\ncores:\n" + cores;
}

}  // namespace monet::test
