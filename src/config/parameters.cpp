#include "config/parameters.h"

#include "base/suggest.h"
#include "base/try.h"
#include "config/expression.h"
#include "config/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

struct ParameterDefinition {
  std::string name;
  Place place;
  const Yaml* value = nullptr;  // the default
  const Yaml* minimum = nullptr;
  const Yaml* maximum = nullptr;
};

namespace {

constexpr std::size_t max_parameters = 1000;

std::vector<std::string> names_in(const std::vector<ParameterDefinition>& definitions) {
  std::vector<std::string> names;
  for (const ParameterDefinition& definition : definitions) names.push_back(definition.name);
  return names;
}

std::string meant(std::string_view name, const std::vector<std::string>& known, std::string_view what) {
  if (known.empty()) return fmt::format("this file has no {}", what);
  const std::string near = nearest(name, known);
  return near.empty() ? fmt::format("{}: {}", what, fmt::join(known, ", ")) : fmt::format("did you mean '{}'?", near);
}

Error unknown(const std::string& name, const std::vector<std::string>& known, const Words& words, const Yaml& scalar) {
  if (words.find(name) != nullptr) {
    return {.message = fmt::format("the parameter '{}' is a word, not a number", name),
            .place = scalar.place.text(),
            .advice = fmt::format("write {{choose: {}, {}: …}} where a value depends on it", name, *words.find(name))};
  }
  return {.message = fmt::format("'{}' is no parameter", shown(name)),
          .place = scalar.place.text(),
          .advice = meant(name, known, "parameters")};
}

Expected<Expression> parse_expression(const Yaml& scalar) {
  // Columns in messages count from the =.
  auto parsed = Expression::parse(" " + scalar.scalar.substr(1));
  if (!parsed) return placed(std::move(parsed).error(), scalar.place);
  return parsed;
}

}  // namespace

Error placed(Error error, const Place& place) {
  if (error.place.empty()) error.place = place.text();
  return error;
}

bool is_expression(const Yaml& scalar) { return scalar.is_scalar() && scalar.scalar.starts_with('='); }

// Values one after another, each after those on which it depends.
class ParameterReader {
 public:
  ParameterReader(const std::vector<ParameterDefinition>& definitions, const Words& words, Parameters::Values& values)
      : definitions_(definitions), words_(words), values_(values) {}

  Status read_all(const std::map<std::string, YamlPtr>& chosen) {
    for (const ParameterDefinition& definition : definitions_) MONET_RETURN_IF_ERROR(read(definition, chosen));
    return Done{};
  }

 private:
  Status read(const ParameterDefinition& definition, const std::map<std::string, YamlPtr>& chosen) {
    if (values_.contains(definition.name)) return Done{};
    const auto other = chosen.find(definition.name);
    const Yaml& value = other == chosen.end() ? *definition.value : *other->second;
    if (std::find(open_.begin(), open_.end(), definition.name) != open_.end()) {
      return Error{.message = fmt::format("the parameters {} depend on each other", fmt::join(open_, ", ")),
                   .place = value.place.text(),
                   .advice = "give one of them a number"};
    }
    open_.push_back(definition.name);
    if (is_expression(value)) {
      if (open_.size() > 64) {
        return Error{.message = "parameters depend on each other in a chain longer than 64",
                     .place = value.place.text()};
      }
      MONET_TRY(const Expression expression, parse_expression(value));
      for (const std::string& name : expression.names()) {
        const auto found = std::find_if(definitions_.begin(), definitions_.end(),
                                        [&](const ParameterDefinition& candidate) { return candidate.name == name; });
        if (found == definitions_.end()) return unknown(name, names_in(definitions_), words_, value);
        MONET_RETURN_IF_ERROR(read(*found, chosen));
      }
    }
    open_.pop_back();
    MONET_TRY(values_[definition.name], Parameters::evaluate(value, values_, words_));
    return Done{};
  }

  const std::vector<ParameterDefinition>& definitions_;
  const Words& words_;
  Parameters::Values& values_;
  std::vector<std::string> open_;
};

namespace {

Expected<std::vector<ParameterDefinition>> read_definitions(const Yaml& block, const Words& words) {
  std::vector<ParameterDefinition> definitions;
  if (block.entries.size() > max_parameters) {
    return Error{.message = fmt::format("more than {} parameters", max_parameters), .place = block.place.text()};
  }
  for (const Yaml::Entry& entry : block.entries) {
    ParameterDefinition definition{.name = entry.key, .place = entry.place, .value = entry.value.get()};
    if (!is_name(entry.key)) {
      return Error{.message = fmt::format("'{}' cannot be the name of a parameter", shown(entry.key)),
                   .place = entry.place.text(),
                   .advice = "use letters, digits and _"};
    }
    if (Expression::is_reserved(entry.key)) {
      return Error{.message = fmt::format("'{}' means something else in expressions", entry.key),
                   .place = entry.place.text(),
                   .advice = "take another name"};
    }
    if (words.find(entry.key) != nullptr) continue;
    if (entry.value->is_map()) {
      definition.value = entry.value->find("value");
      definition.minimum = entry.value->find("minimum");
      definition.maximum = entry.value->find("maximum");
    }
    if (definition.value == nullptr) {
      return Error{.message = fmt::format("the parameter '{}' has no default", entry.key),
                   .place = entry.place.text(),
                   .advice = "write value: …"};
    }
    definitions.push_back(definition);
  }
  return definitions;
}

Status check_bounds(const Parameters& parameters, const ParameterDefinition& definition, const Quantity& value,
                    const Place& place) {
  for (const bool low : {true, false}) {
    const Yaml* bound = low ? definition.minimum : definition.maximum;
    if (bound == nullptr) continue;
    MONET_TRY(const Quantity limit, parameters.evaluate(*bound));
    if (limit.dimension != value.dimension) {
      return Error{.message = fmt::format("this bound of '{}' has another unit than its value", definition.name),
                   .place = bound->place.text()};
    }
    if (low ? value.value < limit.value : value.value > limit.value) {
      return Error{.message = fmt::format("the parameter '{}' is {} than {}", definition.name,
                                          low ? "smaller" : "larger", shown(bound->scalar)),
                   .place = place.text(),
                   .advice = fmt::format("its {} stands at {}", low ? "minimum" : "maximum", bound->place.text())};
    }
  }
  return Done{};
}

// As it was written; of an expression its value.
std::string text_of(const Yaml& written, const Quantity& value) {
  if (!is_expression(written)) return written.scalar;
  std::string text = fmt::format("{:.12g}", value.value);
  for (const Measure measure : {Measure::size, Measure::bandwidth, Measure::frequency, Measure::energy, Measure::power,
                                Measure::time, Measure::area, Measure::length, Measure::rate}) {
    if (value.dimension.is_number()) break;
    if (const auto converted = convert(value, measure, 0)) text = format_measure(*converted, measure);
  }
  return text;
}

}  // namespace

Expected<Parameters> Parameters::read(const Yaml* block, const std::vector<std::pair<std::string, std::string>>& chosen,
                                      const std::string& file) {
  static const Yaml none{.kind = YamlKind::map, .place = {}, .scalar = {}, .items = {}, .entries = {}};
  const Yaml& table = block == nullptr ? none : *block;
  Parameters parameters;
  MONET_TRY(parameters.words_, Words::read(&table, chosen));
  MONET_TRY(const Words default_words, Words::read(&table, {}));
  MONET_TRY(const YamlPtr own, parameters.words_.choose(table));
  MONET_TRY(const YamlPtr usual, default_words.choose(table));
  MONET_TRY(const std::vector<ParameterDefinition> definitions, read_definitions(*own, parameters.words_));
  MONET_TRY(const std::vector<ParameterDefinition> defaults, read_definitions(*usual, default_words));
  std::vector<std::string> known;
  for (const Yaml::Entry& entry : own->entries) known.push_back(entry.key);
  std::map<std::string, YamlPtr> nodes;
  for (const auto& [name, text] : chosen) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error{.message = fmt::format("there is no parameter '{}'", shown(name)),
                   .place = file,
                   .advice = meant(name, known, "parameters")};
    }
    auto node = std::make_shared<Yaml>();
    node->kind = YamlKind::scalar;
    node->scalar = text;
    node->place.file = std::make_shared<const std::string>(fmt::format("parameter {}", name));
    nodes[name] = node;
  }

  MONET_RETURN_IF_ERROR(ParameterReader(defaults, default_words, parameters.defaults_).read_all({}));
  MONET_RETURN_IF_ERROR(ParameterReader(definitions, parameters.words_, parameters.chosen_).read_all(nodes));
  std::map<std::string, std::string, std::less<>> texts;
  for (const ParameterDefinition& definition : definitions) {
    const Quantity& value = parameters.chosen_[definition.name];
    const auto other = nodes.find(definition.name);
    const Yaml& written = other == nodes.end() ? *definition.value : *other->second;
    const auto usual_value = parameters.defaults_.find(definition.name);
    if (usual_value != parameters.defaults_.end() && value.dimension != usual_value->second.dimension) {
      return Error{.message = fmt::format("the parameter '{}' is {} by default: another unit than {}", definition.name,
                                          shown(definition.value->scalar), shown(written.scalar)),
                   .place = written.place.text(),
                   .advice = "write the value with such a unit"};
    }
    MONET_RETURN_IF_ERROR(check_bounds(parameters, definition, value, written.place));
    texts[definition.name] = text_of(written, value);
  }
  for (const std::string& name : known) {
    const std::string* word = parameters.words_.find(name);
    parameters.texts_.emplace_back(name, word != nullptr ? *word : texts[name]);
  }
  return parameters;
}

Expected<Quantity> Parameters::evaluate(const Yaml& scalar, const Values& values, const Words& words) {
  if (!scalar.is_scalar()) {
    return Error{.message = fmt::format("{} where a number should be", name_of(scalar.kind)),
                 .place = scalar.place.text(),
                 .advice = "write one value"};
  }
  Quantity result;
  if (scalar.scalar == "true" || scalar.scalar == "false") {
    result.value = scalar.scalar == "true" ? 1 : 0;
  } else if (!is_expression(scalar)) {
    auto parsed = parse_quantity(scalar.scalar);
    if (!parsed) {
      Error error = placed(std::move(parsed).error(), scalar.place);
      if (error.advice.empty()) error.advice = "write a number, with its unit if it has one: 4 or 2 MiB";
      return error;
    }
    result = *parsed;
  } else {
    MONET_TRY(const Expression expression, parse_expression(scalar));
    std::vector<Quantity> arguments;
    for (const std::string& name : expression.names()) {
      const auto found = values.find(name);
      if (found == values.end()) {
        std::vector<std::string> known;
        for (const auto& entry : values) known.push_back(entry.first);
        return unknown(name, known, words, scalar);
      }
      arguments.push_back(found->second);
    }
    auto value = expression.evaluate(arguments);
    if (!value) return placed(std::move(value).error(), scalar.place);
    result = *value;
  }
  if (!std::isfinite(result.value)) {
    return Error{.message = fmt::format("'{}' is not a finite number", shown(scalar.scalar)),
                 .place = scalar.place.text(),
                 .advice = "look for a division by 0"};
  }
  return result;
}

std::string Parameters::substitute(const std::string& text) const {
  const auto part_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && part_of_name(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const auto found = chosen_.find(std::string_view(text).substr(at, end - at));
    result += found == chosen_.end() ? text.substr(at, end - at) : fmt::format("{}", found->second.value);
    at = end;
  }
  return result;
}

}  // namespace monet
