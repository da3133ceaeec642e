#include "graph/custom.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace monet {

namespace {

// Every part says how long it is: "5:alpha".
void add_part(std::string& text, std::string_view part) { text += fmt::format("{}:{}", part.size(), part); }

class Parts {
 public:
  explicit Parts(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> next() {
    std::size_t size = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
    const auto digits = static_cast<std::size_t>(end - rest_.data());
    if (problem != std::errc() || digits == rest_.size() || *end != ':') return std::nullopt;
    rest_.remove_prefix(digits + 1);
    if (size > rest_.size()) return std::nullopt;
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

 private:
  std::string_view rest_;
};

template <class T>
T number_in(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void add_value(std::string& text, std::int64_t value) { add_part(text, fmt::format("{}", value)); }
void add_value(std::string& text, double value) { add_part(text, fmt::format("{}", value)); }
void add_value(std::string& text, const std::string& value) { add_part(text, value); }
template <class T>
void add_value(std::string& text, const std::vector<T>& values) {
  std::string list;
  for (const T& value : values) add_value(list, value);
  add_part(text, list);
}

template <class T>
std::vector<T> list_in(std::string_view text) {
  std::vector<T> values;
  Parts parts(text);
  while (const auto part = parts.next()) values.push_back(number_in<T>(*part));
  return values;
}

AttributeValue value_in(std::size_t kind, std::string_view text) {
  switch (kind) {
    case 0: return number_in<std::int64_t>(text);
    case 1: return number_in<double>(text);
    case 3: return list_in<std::int64_t>(text);
    case 4: return list_in<double>(text);
    default: return std::string(text);
  }
}

}  // namespace

Attributes custom_attributes(const CustomOperator& custom) {
  std::string options;
  for (const auto& [name, value] : custom.attributes) {
    add_part(options, name);
    add_value(options, static_cast<std::int64_t>(value.index()));
    std::visit([&](const auto& held) { add_value(options, held); }, value);
  }
  std::vector<std::int64_t> outputs;  // of each: element type, number of axes, sizes
  for (const TensorType& type : custom.outputs) {
    outputs.push_back(static_cast<std::int64_t>(type.format.element));
    outputs.push_back(static_cast<std::int64_t>(type.shape.size()));
    outputs.insert(outputs.end(), type.shape.begin(), type.shape.end());
  }
  return {{Attr::domain, custom.domain},
          {Attr::op_type, custom.type},
          {Attr::options, std::move(options)},
          {Attr::outputs, std::move(outputs)}};
}

CustomOperator custom_operator(const Attributes& attributes) {
  CustomOperator custom{
      .domain = attributes.text(Attr::domain), .type = attributes.text(Attr::op_type), .attributes = {}, .outputs = {}};
  Parts parts(attributes.text(Attr::options));
  while (const auto name = parts.next()) {
    const auto kind = parts.next();
    const auto value = parts.next();
    if (!kind || !value) break;
    custom.attributes.emplace_back(std::string(*name), value_in(number_in<std::size_t>(*kind), *value));
  }
  if (auto outputs = custom_outputs(attributes)) custom.outputs = *std::move(outputs);
  return custom;
}

Expected<Types> custom_outputs(const Attributes& attributes) {
  const std::vector<std::int64_t>& numbers = attributes.integers(Attr::outputs);
  Types types;
  for (std::size_t i = 0; i < numbers.size();) {
    const std::int64_t element = numbers[i];
    const bool has_rank = i + 1 < numbers.size() && numbers[i + 1] >= 0;
    const std::size_t rank = has_rank ? static_cast<std::size_t>(numbers[i + 1]) : 0;
    if (!has_rank || rank > numbers.size() - i - 2 || element < 0 || !is_known(element)) {
      return shape_error(fmt::format("the outputs of {} are not described", attributes.text(Attr::op_type)));
    }
    const auto sizes = numbers.begin() + static_cast<std::ptrdiff_t>(i) + 2;
    types.push_back(
        {Shape(sizes, sizes + static_cast<std::ptrdiff_t>(rank)), {.element = static_cast<ElementType>(element)}});
    i += 2 + rank;
  }
  return types;
}

std::string operator_type(const Node& node) {
  return node.op == Op::Custom ? node.attributes.text(Attr::op_type) : std::string(name_of(node.op));
}

std::string to_text(const AttributeValue& value) {
  struct Writer {
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::int64_t>& list) const {
      return fmt::format("[{}]", fmt::join(list, ", "));
    }
    std::string operator()(const std::vector<double>& list) const { return fmt::format("[{}]", fmt::join(list, ", ")); }
  };
  return std::visit(Writer{}, value);
}

}  // namespace monet
