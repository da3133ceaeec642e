#include "explore/space/axes.h"

#include "base/text.h"
#include "base/try.h"
#include "config/parameters.h"
#include "config/yaml_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace monet::explore {

namespace {

constexpr std::string_view forms =
    "a list [1, 2, 4], {from: 1, to: 8, step: 1}, {powers_of_two: 16..128}, one value, or an expression =x * 2";

// A number and its unit, as written.
struct Written {
  std::string_view number, unit;
  Quantity quantity;
};

Expected<Written> written_in(std::string_view text, const Place& place) {
  text = trimmed(text);
  const std::size_t length = number_length(text);
  auto quantity = parse_quantity(text);
  if (!quantity) {
    Error error = placed(std::move(quantity).error(), place);
    if (error.advice.empty()) error.advice = "write a number, with a unit where the hardware has one: 4 or 2 MiB";
    return error;
  }
  return Written{text.substr(0, length), trimmed(text.substr(length)), *quantity};
}

std::string in_unit(double base, const Written& like) {
  // The scale of the unit; 1 where there is none.
  const double scale = make_quantity("1", like.unit)->value;
  const std::string number = fmt::format("{:.12g}", base / scale);
  return like.unit.empty() ? number : fmt::format("{} {}", number, like.unit);
}

class AxisReader {
 public:
  explicit AxisReader(const Yaml::Entry& entry) : entry_(entry), what_(fmt::format("'{}'", shown(entry.key))) {
    axis_.name = entry.key;
  }

  Status read() {
    const Yaml& value = *entry_.value;
    if (value.is_list()) return read_list(value);
    if (value.is_map()) return value.find("powers_of_two") != nullptr ? read_powers(value) : read_range(value);
    if (value.is_scalar()) return add(value);
    return error_at(entry_.place, fmt::format("{} has no values", what_), fmt::format("write {}", forms));
  }

  Axis axis_;
  std::vector<Place> places_;

 private:
  Status add(const Yaml& item) {
    if (!item.is_scalar()) return wrong_form(item, fmt::format("a value of {}", what_), "a number or a quantity");
    if (is_expression(item)) {
      return error_at(item.place, fmt::format("a value of {} is an expression", what_),
                      "an expression stands alone: the parameter then follows from others");
    }
    return add(item.scalar, item.place);
  }

  Status add(const std::string& text, const Place& place) {
    Quantity quantity;
    if (text == "true" || text == "false") {
      quantity.value = text == "true" ? 1 : 0;
    } else if (is_name(text)) {
      return add_word(text, place);
    } else {
      MONET_TRY(const Written written, written_in(text, place));
      quantity = written.quantity;
    }
    if (words_) return mixed(text, place);
    for (std::size_t i = 0; i < axis_.quantities.size(); ++i) {
      const Quantity& other = axis_.quantities[i];
      if (other.dimension != quantity.dimension) {
        return error_at(place,
                        fmt::format("'{}' of {} has another unit than '{}'", shown(text), what_, shown(axis_.texts[i])),
                        "write all values in one kind of unit");
      }
      if (other.value == quantity.value) {
        return error_at(place, fmt::format("{} has the value '{}' twice", what_, shown(text)), "remove one of them");
      }
    }
    if (axis_.texts.size() == most_values) {
      return error_at(place, fmt::format("{} has more than {} values", what_, most_values), "take larger steps");
    }
    append(text, quantity, place);
    return Done{};
  }

  void append(const std::string& text, const Quantity& quantity, const Place& place) {
    axis_.texts.push_back(text);
    axis_.quantities.push_back(quantity);
    places_.push_back(place);
  }

  Error mixed(const std::string& text, const Place& place) const {
    return error_at(place, fmt::format("{} has '{}' beside '{}'", what_, shown(text), shown(axis_.texts.front())),
                    "write words alone, or numbers alone");
  }

  // A word of the family, which says which words there are; it counts as its place in the list.
  Status add_word(const std::string& text, const Place& place) {
    if (!words_ && !axis_.texts.empty()) return mixed(text, place);
    words_ = true;
    if (std::ranges::find(axis_.texts, text) != axis_.texts.end()) {
      return error_at(place, fmt::format("{} has the value '{}' twice", what_, shown(text)), "remove one of them");
    }
    append(text, {.value = static_cast<double>(axis_.texts.size()), .dimension = {}}, place);
    return Done{};
  }

  Status read_list(const Yaml& list) {
    if (list.items.empty()) {
      return error_at(list.place, fmt::format("{} has no values", what_), "write at least one");
    }
    for (const YamlPtr& item : list.items) MONET_RETURN_IF_ERROR(add(*item));
    return Done{};
  }

  Expected<Written> bound(const Yaml& range, std::string_view key) const {
    const Yaml* node = range.find(key);
    if (node == nullptr) {
      return error_at(range.place, fmt::format("the range of {} has no '{}'", what_, key),
                      "write {from: 1, to: 8, step: 1}");
    }
    if (!node->is_scalar()) return wrong_form(*node, fmt::format("'{}' of {}", key, what_), "a number or a quantity");
    return written_in(node->scalar, node->place);
  }

  Status read_range(const Yaml& range) {
    MONET_RETURN_IF_ERROR(
        check_keys_of(range, fmt::format("the values of {}", what_), {"from", "to", "step", "powers_of_two"}));
    MONET_TRY(const Written from, bound(range, "from"));
    MONET_TRY(const Written to, bound(range, "to"));
    Written step{.number = "1", .unit = {}, .quantity = {.value = 1, .dimension = {}}};
    if (range.find("step") != nullptr || !from.quantity.dimension.is_number()) {
      MONET_TRY(step, bound(range, "step"));
    }
    if (to.quantity.dimension != from.quantity.dimension || step.quantity.dimension != from.quantity.dimension) {
      return error_at(range.place, fmt::format("from, to and step of {} have different units", what_),
                      "write all in one kind of unit");
    }
    const double first = from.quantity.value, last = to.quantity.value, width = step.quantity.value;
    if (!(width > 0)) return error_at(range.place, fmt::format("the step of {} is not above 0", what_), "step: 1");
    if (first > last) {
      return error_at(range.place, fmt::format("the range of {} ends before it begins", what_), "exchange from and to");
    }
    // A step that meets the end but for rounding does.
    const double steps = std::floor((last - first) / width * (1 + 1e-12) + 1e-9);
    if (!(steps < static_cast<double>(most_values))) {
      return error_at(range.place, fmt::format("{} has more than {} values", what_, most_values), "take larger steps");
    }
    for (int i = 0; i <= static_cast<int>(steps); ++i) {
      MONET_RETURN_IF_ERROR(add(in_unit(first + i * width, from), range.place));
    }
    return Done{};
  }

  Status read_powers(const Yaml& map) {
    MONET_RETURN_IF_ERROR(check_keys_of(map, fmt::format("the values of {}", what_), {"powers_of_two"}));
    const Yaml& node = *map.find("powers_of_two");
    const std::size_t dots = node.scalar.find("..");
    if (!node.is_scalar() || dots == std::string::npos) {
      return error_at(node.place, fmt::format("the powers of two of {} have no two ends", what_),
                      "write 16..128 or 512 KiB..4 MiB");
    }
    MONET_TRY(const Written high, written_in(std::string_view(node.scalar).substr(dots + 2), node.place));
    MONET_TRY(Written low, written_in(std::string_view(node.scalar).substr(0, dots), node.place));
    // 64..512 bit/cycle
    if (low.unit.empty() && !high.unit.empty()) {
      low.unit = high.unit;
      auto with_unit = make_quantity(low.number, low.unit);
      if (!with_unit) return placed(std::move(with_unit).error(), node.place);
      low.quantity = *with_unit;
    }
    if (low.quantity.dimension != high.quantity.dimension) {
      return error_at(node.place, fmt::format("the ends of {} have different units", what_),
                      "write both in one kind of unit");
    }
    for (const Written& end : {low, high}) {
      int exponent = 0;
      if (!(end.quantity.value > 0) || std::frexp(make_quantity(end.number, {})->value, &exponent) != 0.5) {
        return error_at(node.place, fmt::format("{} of {} is no power of two", shown(end.number), what_),
                        "write a list, or {from: 1, to: 8, step: 1}");
      }
    }
    if (low.quantity.value > high.quantity.value) {
      return error_at(node.place, fmt::format("the range of {} ends before it begins", what_), "exchange the two ends");
    }
    const bool as_size = low.unit != high.unit && low.quantity.dimension == Dimension{.bit = 1};
    for (double value = low.quantity.value; value <= high.quantity.value; value *= 2) {
      MONET_RETURN_IF_ERROR(add(as_size ? format_measure(value, Measure::size) : in_unit(value, low), node.place));
    }
    return Done{};
  }

  const Yaml::Entry& entry_;
  std::string what_;
  bool words_ = false;
};

}  // namespace

Expected<ParameterTable> read_parameter_table(const Yaml& node) {
  if (!node.is_map()) return wrong_form(node, "'parameters'", "a name and values for each: lanes: [1, 2, 4]");
  ParameterTable table;
  std::uint64_t designs = 1;
  for (const Yaml::Entry& entry : node.entries) {
    if (entry.key.size() > longest_name) {
      return error_at(entry.place, fmt::format("the name of a parameter has {} characters", entry.key.size()),
                      fmt::format("at most {}", longest_name));
    }
    if (table.axes.size() + table.derived.size() == most_axes) {
      return error_at(entry.place, fmt::format("more than {} parameters", most_axes), "leave the rest to the hardware");
    }
    if (is_expression(*entry.value)) {
      table.derived.push_back({entry.key, entry.value->scalar});
      table.derived_places.push_back(entry.value->place);
      continue;
    }
    AxisReader reader(entry);
    MONET_RETURN_IF_ERROR(reader.read());
    const std::uint64_t values = reader.axis_.texts.size();
    if (designs > most_designs / values) {
      return error_at(entry.place, "the space has more than 2^48 designs", "give parameters fewer values");
    }
    designs *= values;
    table.axes.push_back(std::move(reader.axis_));
    table.value_places.push_back(std::move(reader.places_));
  }
  if (table.axes.empty()) {
    return error_at(node.place, "no parameter has values", "write lanes: [1, 2, 4], or as your hardware names it");
  }
  return table;
}

}  // namespace monet::explore
