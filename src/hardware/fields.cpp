#include "hardware/fields.h"

#include "base/require.h"
#include "base/try.h"
#include "config/ranges.h"

#include <fmt/format.h>

#include <cmath>

namespace monet {

Expected<Fields> Fields::open(const Yaml& node, const Block& block, Context context, const Parameters& parameters,
                              std::vector<Origin>& origins) {
  Fields fields(node, block, parameters, origins);
  fields.context_ = std::move(context);
  if (block.find("source") != nullptr) {
    if (const Yaml* source = fields.find("source")) {
      fields.context_.source = source->scalar;
      fields.context_.confidence = '-';
    }
    if (const Yaml* confidence = fields.find("confidence")) fields.context_.confidence = confidence->scalar.front();
  }
  if (block.find("clock") != nullptr && fields.has("clock")) {
    MONET_TRY(const auto clock, fields.quantity("clock"));
    if (*clock < 1) return fields.error("clock", "a clock below 1 Hz", "write a frequency, for example 500 MHz");
    fields.context_.clock_hz = *clock;
  }
  if (block.find("technology") != nullptr && fields.has("technology")) {
    MONET_TRY(const auto technology, fields.quantity("technology"));
    if (*technology < 0.1 || *technology > 10000) {
      return fields.error("technology", "no such technology node", "write a length, for example 22 nm");
    }
    fields.context_.technology_nm = *technology;
  }
  return fields;
}

const Key& Fields::key(std::string_view name) const {
  const Key* found = block_->find(name);
  MONET_REQUIRE(found != nullptr);  // the reader may use only what the table has
  return *found;
}

const Yaml* Fields::find(std::string_view name) const {
  (void)key(name);
  const Yaml* value = node_->find(name);
  if (value == nullptr) return nullptr;
  const Form form = key(name).form;
  const bool has_blocks = form == Form::block || form == Form::blocks || form == Form::block_list;
  return !has_blocks && is_stated(*value) ? value->find("value") : value;
}

Place Fields::place(std::string_view name) const {
  const Yaml* value = find(name);
  return value == nullptr ? node_->place : value->place;
}

Error Fields::error(std::string_view name, std::string message, std::string advice) const {
  return {.message = std::move(message), .place = place(name).text(), .advice = std::move(advice)};
}

std::string Fields::text(std::string_view name) const {
  const Yaml* value = find(name);
  return value == nullptr ? std::string() : value->scalar;
}

std::vector<const Yaml*> Fields::names(std::string_view name) const {
  std::vector<const Yaml*> result;
  const Yaml* value = find(name);
  if (value == nullptr) return result;
  if (value->is_scalar()) return {value};
  for (const YamlPtr& item : value->items) result.push_back(item.get());
  return result;
}

Expected<bool> Fields::boolean(std::string_view name, bool otherwise) const {
  const Yaml* value = find(name);
  if (value == nullptr) return otherwise;
  if (value->scalar != "true" && value->scalar != "false" && !is_expression(*value)) {
    return error(name, fmt::format("'{}' is neither true nor false", shown(value->scalar)), "write true or false");
  }
  MONET_TRY(const Quantity number, parameters_->evaluate(*value));
  return number.value != 0;
}

Expected<double> Fields::convert_value(const Yaml& value, Measure measure) const {
  MONET_TRY(const Quantity quantity, parameters_->evaluate(value));
  auto converted = convert(quantity, measure, context_.clock_hz);
  if (!converted) {
    Error problem = placed(std::move(converted).error(), value.place);
    problem.message = fmt::format("'{}': {}", shown(value.scalar), problem.message);
    return problem;
  }
  if (auto status = check_range(*converted, measure, shown(value.scalar)); !status) {
    return placed(std::move(status).error(), value.place);
  }
  return *converted;
}

Expected<std::optional<double>> Fields::number(std::string_view name, double least) const {
  const Yaml* value = find(name);
  if (value == nullptr) return std::optional<double>();
  MONET_TRY(const Quantity quantity, parameters_->evaluate(*value));
  if (!quantity.dimension.is_number()) {
    return error(name, fmt::format("'{}' has a unit", shown(value->scalar)), "write a number without a unit");
  }
  const double most = range_of(Measure::number).most;
  if (!(quantity.value >= least && quantity.value <= most)) {
    return error(name, fmt::format("'{}' is {}", name, quantity.value < least ? "too small" : "too large"),
                 fmt::format("from {} to {}", least, most));
  }
  // A part that is all but 0 divides as 0 does.
  if (quantity.value != 0 && std::abs(quantity.value) < range_of(Measure::number).least)
    return error(name, fmt::format("'{}' is too small", name), fmt::format("write {}", range_text(Measure::number)));
  return std::optional(quantity.value);
}

namespace {

Expected<std::int64_t> whole_number(const Fields& fields, const Yaml& value, std::string_view name, std::int64_t least,
                                    std::int64_t most) {
  const std::string range = fmt::format("write a whole number from {} to {}", least, most);
  MONET_TRY(const Quantity quantity, fields.parameters().evaluate(value));
  if (!quantity.dimension.is_number() || quantity.value != std::floor(quantity.value)) {
    return Error{.message = fmt::format("'{}' of '{}' is not a whole number", shown(value.scalar), name),
                 .place = value.place.text(),
                 .advice = range};
  }
  if (quantity.value < static_cast<double>(least) || quantity.value > static_cast<double>(most)) {
    return Error{.message = fmt::format("'{}' cannot be {:.12g}", name, quantity.value),
                 .place = value.place.text(),
                 .advice = range};
  }
  return static_cast<std::int64_t>(quantity.value);
}

}  // namespace

Expected<std::optional<std::int64_t>> Fields::integer(std::string_view name, std::int64_t least,
                                                      std::int64_t most) const {
  const Yaml* value = find(name);
  if (value == nullptr) return std::optional<std::int64_t>();
  MONET_TRY(const std::int64_t whole, whole_number(*this, *value, name, least, most));
  return std::optional(whole);
}

Expected<std::vector<std::int64_t>> Fields::integers(std::string_view name, std::int64_t most) const {
  std::vector<std::int64_t> result;
  for (const Yaml* value : names(name)) {
    MONET_TRY(const std::int64_t whole, whole_number(*this, *value, name, 1, most));
    result.push_back(whole);
  }
  return result;
}

Expected<std::optional<double>> Fields::quantity(std::string_view name, std::string_view noted_as) const {
  const Yaml* value = find(name);
  if (value == nullptr) return std::optional<double>();
  const Measure measure = key(name).measure;
  MONET_TRY(const double converted, convert_value(*value, measure));
  note(noted_as, format_measure(converted, measure), node_->find(name));
  return std::optional(converted);
}

Expected<std::optional<double>> Fields::cycles(std::string_view name) const {
  const Yaml* value = find(name);
  if (value == nullptr) return std::optional<double>();
  MONET_TRY(const Quantity quantity, parameters_->evaluate(*value));
  if (!quantity.dimension.is_number()) {
    MONET_TRY(const double converted, convert_value(*value, Measure::time));
    note(name, format_measure(converted, Measure::time), node_->find(name));
    return std::optional(converted);
  }
  if (auto status = check_range(quantity.value, Measure::time, shown(value->scalar)); !status) {
    return placed(std::move(status).error(), value->place);
  }
  note(name, format_measure(quantity.value, Measure::time), node_->find(name));
  return std::optional(quantity.value);
}

void Fields::note(std::string_view quantity, const std::string& value, const Yaml* stated) const {
  Origin origin{.part = context_.part,
                .quantity = std::string(quantity),
                .value = value,
                .source = context_.source,
                .confidence = context_.confidence};
  if (stated != nullptr && is_stated(*stated)) {
    if (const Yaml* source = stated->find("source")) {
      origin.source = source->scalar;
      origin.confidence = '-';
    }
    if (const Yaml* confidence = stated->find("confidence")) origin.confidence = confidence->scalar.front();
  }
  origins_->push_back(std::move(origin));
}

void Fields::note_derived(std::string_view quantity, double value, Measure measure, const std::string& source,
                          char confidence) const {
  origins_->push_back({.part = context_.part,
                       .quantity = std::string(quantity),
                       .value = format_measure(value, measure),
                       .source = source,
                       .confidence = confidence,
                       .derived = true});
}

}  // namespace monet
