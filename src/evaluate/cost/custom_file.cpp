#include "evaluate/cost/custom_file.h"

#include "base/read_file.h"
#include "base/try.h"
#include "config/check_keys.h"
#include "config/expression.h"
#include "config/parameters.h"
#include "config/yaml_values.h"
#include "graph/nests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>

namespace monet {

namespace {

constexpr YamlFileKind costs_file_kind = {.name = "file of costs",
                                          .example = "docs/custom-operators.md",
                                          .shorten = "keep the operators that are used",
                                          .max_bytes = std::size_t{1} << 20,
                                          .max_nodes = 20000};

struct Formula {
  Expression expression;
  std::string place;
};

struct Formulas {
  Formula cycles, energy;
};

struct OperatorFormulas {
  std::optional<Formulas> anywhere;
  std::map<std::string, Formulas, std::less<>> cores;  // by type
};

using FormulaTable = std::map<std::string, OperatorFormulas, std::less<>>;

double elements_of(const std::vector<std::int64_t>& shape) {
  double product = 1;
  for (std::int64_t size : shape) product *= static_cast<double>(size);
  return product;
}

double elements_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  double sum = 0;
  for (const auto& shape : shapes) sum += elements_of(shape);
  return sum;
}

// The number in in0, in1, out0 …
std::optional<std::size_t> operand_number(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  return problem == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

bool is_size(std::string_view name) {
  return name == "inputs" || name == "outputs" || name == "points" || operand_number(name, "in") ||
         operand_number(name, "out") || dim_named(name).has_value();
}

double size_named(std::string_view name, const CustomTile& tile) {
  if (name == "inputs") return elements_of(tile.input_shapes);
  if (name == "outputs") return elements_of(tile.output_shapes);
  if (const auto i = operand_number(name, "in"))
    return *i < tile.input_shapes.size() ? elements_of(tile.input_shapes[*i]) : 0;
  if (const auto i = operand_number(name, "out"))
    return *i < tile.output_shapes.size() ? elements_of(tile.output_shapes[*i]) : 0;
  double points = 1;
  for (const auto& [loop, size] : tile.loops) {
    if (loop == name) return static_cast<double>(size);
    points *= static_cast<double>(size);
  }
  return name == "points" ? points : 1;
}

Expected<Formula> read_formula(const Yaml& node, const std::string& what, Dimension dimension, const char* example) {
  const std::string advice = fmt::format("write for example {}", example);
  if (!node.is_scalar()) return error_at(node.place, fmt::format("{} is {}", what, name_of(node.kind)), advice);
  auto parsed = Expression::parse(node.scalar.starts_with('=') ? node.scalar.substr(1) : node.scalar);
  if (!parsed) return placed(std::move(parsed).error(), node.place);
  for (const std::string& name : parsed->names()) {
    if (is_size(name)) continue;
    return error_at(node.place, fmt::format("'{}' is no size of a tile", shown(name)),
                    "use inputs, outputs, in0, in1, out0, points, or a loop: B, K, D, OY, OX …");
  }
  const std::vector<Quantity> ones(parsed->names().size(), Quantity{1, {}});
  const auto value = parsed->evaluate(ones);
  if (!value) return placed(value.error(), node.place);
  const bool constant_zero = parsed->names().empty() && value->value == 0;
  const bool number_of_cycles = dimension.cycle == 1 && value->dimension.is_number();
  if (value->dimension != dimension && !constant_zero && !number_of_cycles) {
    return error_at(node.place, fmt::format("{} has another unit, or none", what), advice);
  }
  return Formula{*std::move(parsed), node.place.text()};
}

Expected<Formulas> read_formulas(const Yaml& node, const std::string& what) {
  const Yaml* cycles = node.find("cycles");
  const Yaml* energy = node.find("energy");
  if (cycles == nullptr || energy == nullptr) {
    return error_at(node.place, fmt::format("{} has no {}", what, cycles == nullptr ? "cycles" : "energy"),
                    "write {cycles: 20 + inputs / 16, energy: 1.5 pJ * inputs}");
  }
  MONET_TRY(Formula time, read_formula(*cycles, fmt::format("'cycles' of {}", what), {.cycle = 1}, "20 + inputs / 16"));
  MONET_TRY(Formula pj, read_formula(*energy, fmt::format("'energy' of {}", what), {.energy = 1}, "1.5 pJ * inputs"));
  return Formulas{std::move(time), std::move(pj)};
}

Status check_block(const Yaml& node, const std::string& what, const std::vector<std::string>& keys) {
  if (!node.is_map()) {
    return error_at(node.place, fmt::format("{} is {}", what, name_of(node.kind)),
                    fmt::format("write a block of keys: {}", fmt::join(keys, ", ")));
  }
  for (const Yaml::Entry& entry : node.entries) {
    if (std::ranges::find(keys, entry.key) != keys.end()) continue;
    return error_at(entry.place, fmt::format("unknown key '{}' in {}", shown(entry.key), what),
                    meant_name(entry.key, keys));
  }
  return Done{};
}

Expected<OperatorFormulas> read_operator(const Yaml::Entry& entry) {
  const std::string what = fmt::format("operator {}", shown(entry.key));
  const Yaml& node = *entry.value;
  MONET_RETURN_IF_ERROR(check_block(node, what, {"cycles", "energy", "cores"}));
  OperatorFormulas result;
  const Yaml* cores = node.find("cores");
  if (cores == nullptr || node.entries.size() > 1) {
    MONET_TRY(result.anywhere, read_formulas(node, what));
  }
  if (cores == nullptr) return result;
  if (!cores->is_map() || cores->entries.empty()) {
    return error_at(cores->place, fmt::format("'cores' of {} names no core", what),
                    "write {simd: {cycles: …, energy: …}}");
  }
  for (const Yaml::Entry& core : cores->entries) {
    const std::string on = fmt::format("{} on {}", what, shown(core.key));
    MONET_RETURN_IF_ERROR(check_block(*core.value, on, {"cycles", "energy"}));
    MONET_TRY(Formulas formulas, read_formulas(*core.value, on));
    result.cores.emplace(core.key, std::move(formulas));
  }
  return result;
}

Expected<double> value_of(const Formula& formula, const CustomTile& tile) {
  std::vector<double> values;
  for (const std::string& name : formula.expression.names()) values.push_back(size_named(name, tile));
  const double value = formula.expression.evaluate(values);
  if (std::isfinite(value) && value >= 0) return value;
  return Error{.message = fmt::format("'{}' gives {} for a tile of {}", formula.expression.text(), value, tile.op),
               .place = formula.place,
               .advice = "let it give a finite number that is not negative"};
}

Expected<std::optional<CustomCost>> cost_of(const FormulaTable& table, const CustomTile& tile) {
  const auto found = table.find(tile.op);
  if (found == table.end()) return std::optional<CustomCost>();
  const auto core = found->second.cores.find(tile.core);
  const Formulas* formulas = core != found->second.cores.end() ? &core->second
                             : found->second.anywhere          ? &*found->second.anywhere
                                                               : nullptr;
  if (formulas == nullptr) return std::optional<CustomCost>();
  CustomCost cost;
  MONET_TRY(cost.cycles, value_of(formulas->cycles, tile));
  MONET_TRY(cost.energy_pj, value_of(formulas->energy, tile));
  return std::optional(cost);
}

}  // namespace

Expected<CustomCosts> parse_custom_costs(const std::string& text, const std::string& file) {
  MONET_TRY(const YamlPtr root, parse_yaml(text, file, costs_file_kind));
  MONET_RETURN_IF_ERROR(check_block(*root, "the file", {"operators"}));
  const Yaml* operators = root->find("operators");
  if (operators == nullptr || !operators->is_map() || operators->entries.empty()) {
    return error_at(operators != nullptr ? operators->place : root->place, "the file names no operators",
                    "write operators: {FancyNorm: {cycles: 20 + inputs / 16, energy: 1.5 pJ * inputs}}");
  }
  auto table = std::make_shared<FormulaTable>();
  for (const Yaml::Entry& entry : operators->entries) {
    MONET_TRY(OperatorFormulas formulas, read_operator(entry));
    table->emplace(entry.key, std::move(formulas));
  }
  return CustomCosts([table](const CustomTile& tile) { return cost_of(*table, tile); });
}

Expected<CustomCosts> read_custom_costs(const std::string& path) {
  MONET_TRY(const std::string text, read_file(path));
  return parse_custom_costs(text, path);
}

}  // namespace monet
