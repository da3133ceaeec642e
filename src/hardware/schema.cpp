#include "hardware/schema.h"

#include "hardware/keys.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace monet {

namespace {

using Json = nlohmann::ordered_json;

class SchemaWriter {
 public:
  Json write() {
    Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Hardware"}};
    schema.update(block(machine_block()));
    schema["required"] = {"monet", "name", "clock"};
    // What a word chooses: its parts are checked when the file is read.
    definitions_["choice"] = {
        {"type", "object"}, {"properties", {{"choose", text()}}}, {"required", Json::array({"choose"})}};
    schema["$defs"] = std::move(definitions_);
    return schema;
  }

 private:
  static Json text() { return {{"type", "string"}}; }
  static Json expression() { return {{"type", "string"}, {"pattern", "^="}}; }

  static Json number() { return {{"anyOf", Json::array({{{"type", "number"}}, expression()})}}; }

  static Json quantity(Measure measure) {
    // A number, a unit that may be a quotient; or an expression.
    return {{"type", "string"},
            {"pattern", R"(^(=.*|[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)? *[A-Za-z]+2?( */ *[A-Za-z]+)?)$)"},
            {"examples", Json::array({example_of(measure)})}};
  }

  static Json range(Measure measure) {
    const Json both = {{"type", "string"},
                       {"pattern", R"(^\[?[0-9.]+(\.\.|, *)[0-9.]+\]? *[A-Za-z]+( */ *[A-Za-z]+)?$)"}};
    const Json one = {{"anyOf", Json::array({{{"type", "number"}}, quantity(measure)})}};
    const Json two = {{"type", "array"}, {"items", one}, {"minItems", 2}, {"maxItems", 2}};
    return {{"anyOf", Json::array({quantity(measure), both, two})}};
  }

  static Json names() { return {{"anyOf", Json::array({text(), {{"type", "array"}, {"items", text()}}})}}; }

  Json bare(const Key& key) {
    switch (key.form) {
      case Form::text: return text();
      case Form::names: return names();
      case Form::choice: return {{"enum", key.choices}};
      case Form::boolean: return {{"anyOf", Json::array({{{"type", "boolean"}}, expression()})}};
      case Form::integer: return {{"anyOf", Json::array({{{"type", "integer"}}, expression()})}};
      case Form::integers:
        return {{"type", "array"}, {"items", {{"anyOf", Json::array({{{"type", "integer"}}, expression()})}}}};
      case Form::number: return number();
      case Form::cycles: return {{"anyOf", Json::array({{{"type", "number"}}, quantity(Measure::time)})}};
      case Form::quantity: return quantity(key.measure);
      case Form::range: return range(key.measure);
      case Form::parameter:
        return {{"anyOf", Json::array({{{"type", "number"}}, {{"type", "boolean"}}, {{"type", "string"}}})}};
      default: return reference(key.block());
    }
  }

  // One value may come with its source.
  Json stated(const Key& key) {
    Json properties = {{"value", bare(key)}};
    for (const Key& other : stated_block().keys) {
      if (other.name != "value") properties[std::string(other.name)] = bare(other);
    }
    const Json with_source = {{"type", "object"},
                              {"properties", std::move(properties)},
                              {"required", {"value"}},
                              {"additionalProperties", false}};
    return {{"anyOf", Json::array({bare(key), with_source})}};
  }

  static Json or_choice(Json value) {
    return {{"anyOf", Json::array({std::move(value), {{"$ref", "#/$defs/choice"}}})}};
  }

  Json blocks(const Key& key) {
    Json inner = reference(key.block());
    if (!key.short_for.empty()) inner = {{"anyOf", Json::array({inner, one_value(*key.block().find(key.short_for))})}};
    inner = or_choice(std::move(inner));
    Json result = {{"type", "object"}, {"additionalProperties", std::move(inner)}};
    if (key.names == Names::kinds) result["propertyNames"] = {{"enum", kind_names()}};
    return result;
  }

  // Values of the same form share a definition; choices are each their own.
  Json one_value(const Key& key) {
    if (key.form == Form::choice) return stated(key);
    static constexpr std::array<std::string_view, 11> forms = {"text",     "names",    "choice",   "boolean",
                                                               "integer",  "integers", "number",   "cycles",
                                                               "quantity", "range",    "parameter"};
    std::string name = fmt::format("{}_value", forms[static_cast<std::size_t>(key.form)]);
    if (key.form == Form::quantity || key.form == Form::range) {
      name += fmt::format("_{}", unit_of(key.measure));
      std::replace(name.begin(), name.end(), '/', '_');
    }
    if (!definitions_.contains(name)) definitions_[name] = stated(key);
    return {{"$ref", "#/$defs/" + name}};
  }

  Json value(const Key& key) {
    Json result;
    switch (key.form) {
      case Form::block: result = reference(key.block()); break;
      case Form::blocks: result = blocks(key); break;
      case Form::block_list: result = {{"type", "array"}, {"items", reference(key.block())}}; break;
      default: result = one_value(key);
    }
    result = or_choice(std::move(result));
    result["description"] = key.meaning;
    return result;
  }

  Json block(const Block& block) {
    Json properties = Json::object();
    for (const Key& key : block.keys) properties[std::string(key.name)] = value(key);
    return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  }

  Json reference(const Block& which) {
    std::string name(which.name);
    std::replace(name.begin(), name.end(), ' ', '_');
    if (!definitions_.contains(name)) {
      definitions_[name] = nullptr;  // a cluster holds clusters
      definitions_[name] = block(which);
    }
    return {{"$ref", "#/$defs/" + name}};
  }

  Json definitions_ = Json::object();
};

}  // namespace

std::string hardware_schema() { return SchemaWriter().write().dump(2) + "\n"; }

}  // namespace monet
