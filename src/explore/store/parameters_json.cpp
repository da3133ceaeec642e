#include "explore/store/parameters_json.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>

namespace monet::explore {

namespace {

using Json = nlohmann::ordered_json;

Json value_of(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc() && read.ptr == end)
    return whole;
  double number = 0;
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(number)) return number;
  return text;
}

}  // namespace

std::string parameters_json(const std::vector<std::pair<std::string, std::string>>& parameters) {
  Json json = Json::object();
  for (const auto& [name, value] : parameters) json[name] = value_of(value);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace monet::explore
