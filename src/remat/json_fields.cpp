#include "remat/json_fields.h"

#include "base/suggest.h"

#include <fmt/format.h>

#include <cmath>

namespace monet::remat {

namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr int deepest = 64;

std::string place_of(std::string_view text, std::size_t byte, const std::string& file) {
  std::size_t line = 1, column = 1;
  for (const char c : text.substr(0, std::min(byte, text.size()))) {
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n' ? 1 : 0;
  }
  return fmt::format("{}:{}:{}", file, line, column);
}

// Where brackets are nested too deep; npos: nowhere.
std::size_t too_deep(std::string_view text) {
  int depth = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\') ++i;
    if (c == '"') inside = !inside;
    if (inside) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > deepest) return i;
  }
  return std::string_view::npos;
}

std::string_view kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::boolean: return "true or false";
    case Json::value_t::string: return "a text";
    case Json::value_t::array: return "a list";
    case Json::value_t::object: return "an object";
    default: return "a number";
  }
}

}  // namespace

Expected<Json> parse_json(std::string_view text, const std::string& file) {
  if (text.size() > most_bytes)
    return Error{.message = fmt::format("the file has {} bytes; at most {} are read", text.size(), most_bytes),
                 .place = file,
                 .advice = "leave out what is not needed, such as positions for drawing"};
  if (const std::size_t at = too_deep(text); at != std::string_view::npos)
    return Error{.message = fmt::format("brackets are nested deeper than {}", deepest),
                 .place = place_of(text, at, file),
                 .advice = "give a graph: an object with nodes"};
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::string what = error.what();
    if (const std::size_t colon = what.find(": "); colon != std::string::npos) what = what.substr(colon + 2);
    return Error{.message = what,
                 .place = place_of(text, error.byte > 0 ? error.byte - 1 : 0, file),
                 .advice = "give a graph in JSON"};
  } catch (const Json::exception& error) {
    return Error{.message = error.what(), .place = file, .advice = "give numbers that a computer can hold"};
  }
}

Expected<Field> Field::at(const char* key) const {
  if (!value_->is_object())
    return wrong(fmt::format("an object is expected here, not {}", kind_of(*value_)),
                 fmt::format("give an object with \"{}\"", key));
  const auto found = value_->find(key);
  if (found != value_->end()) return Field(*found, place_ + separator_ + key, ".");
  std::vector<std::string> keys;
  for (const auto& item : value_->items()) keys.push_back(item.key());
  const std::string guess = nearest(key, keys);
  return wrong(fmt::format("\"{}\" is missing{}", key,
                           guess.empty() ? "" : fmt::format("; there is \"{}\", is that it?", guess)),
               fmt::format("add \"{}\"", key));
}

Field Field::at(std::size_t index) const { return Field((*value_)[index], fmt::format("{}[{}]", place_, index), "."); }

Expected<std::size_t> Field::list_size(std::size_t most) const {
  if (!value_->is_array())
    return wrong(fmt::format("a list is expected here, not {}", kind_of(*value_)), "give a list: [...]");
  if (value_->size() > most)
    return wrong(fmt::format("the list has {} entries; at most {} are read", value_->size(), most), "give fewer");
  return value_->size();
}

Expected<double> Field::amount() const {
  if (!value_->is_number())
    return wrong(fmt::format("a number is expected here, not {}", kind_of(*value_)), "give a number from 0 on");
  const double number = value_->get<double>();
  constexpr double most = 1e30;
  if (!std::isfinite(number) || number < 0 || number > most)
    return wrong(fmt::format("{} is out of range", value_->dump()), "give a number from 0 to 1e30");
  return number;
}

Expected<std::int64_t> Field::bytes() const {
  const auto number = amount();
  if (!number) return number.error();
  if (*number > 0x1p53 || *number != std::floor(*number))
    return wrong(fmt::format("{} is not a whole number from 0 to 2^53", value_->dump()), "give whole bytes");
  return static_cast<std::int64_t>(*number);
}

Expected<std::string> Field::id() const {
  if (value_->is_string()) return value_->get<std::string>();
  if (value_->is_number_integer()) return value_->dump();
  return wrong(fmt::format("an id is expected here, not {}",
                           value_->is_number() ? value_->dump() : std::string(kind_of(*value_))),
               "give a whole number or a text");
}

}  // namespace monet::remat
