#include "networks/options.h"

#include "base/require.h"
#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

namespace monet {

namespace {

std::string range_of(const OptionInfo& option) {
  return fmt::format("a whole number from {} to {}", option.smallest, option.largest);
}

Error out_of_range(const OptionInfo& option, std::string_view value) {
  return {.message = fmt::format("{}={} is out of range", option.name, value),
          .advice = fmt::format("{} ({}) is {}", option.name, option.meaning, range_of(option))};
}

Error unknown_option(std::string_view name, std::string_view network, std::span<const OptionInfo> options) {
  std::vector<std::string> names;
  for (const OptionInfo& option : options) names.push_back(option.name);
  const std::string guess = nearest(name, names);
  return {.message = fmt::format("'{}' has no option '{}'", network, name),
          .advice = fmt::format("{}its options are {}", guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess),
                                fmt::join(names, ", "))};
}

Expected<std::int64_t> parse_value(const OptionInfo& option, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::result_out_of_range) return out_of_range(option, text);
  if (status != std::errc{} || end != text.data() + text.size()) {
    return Error{.message = fmt::format("{}={} is not a whole number", option.name, text),
                 .advice = fmt::format("write {}=N, {}", option.name, range_of(option))};
  }
  MONET_RETURN_IF_ERROR(check_range(option, value));
  return value;
}

}  // namespace

OptionValues::OptionValues(std::span<const OptionInfo> options) {
  for (const OptionInfo& option : options) values_.emplace(option.name, option.default_value);
}

void OptionValues::set(std::string_view name, std::int64_t value) {
  const auto found = values_.find(name);
  MONET_REQUIRE(found != values_.end());
  found->second = value;
}

std::int64_t OptionValues::operator[](std::string_view name) const {
  const auto found = values_.find(name);
  MONET_REQUIRE(found != values_.end());
  return found->second;
}

Status check_range(const OptionInfo& option, std::int64_t value) {
  if (value < option.smallest || value > option.largest) return out_of_range(option, fmt::format("{}", value));
  return Done{};
}

Expected<OptionValues> parse_options(std::string_view text, std::string_view network,
                                     std::span<const OptionInfo> options) {
  OptionValues values(options);
  std::set<std::string_view> given;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) {
      return Error{.message = "an option is empty",
                   .advice = fmt::format("write {}:NAME=NUMBER,NAME=NUMBER or {} alone", network, network)};
    }
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const auto option = std::ranges::find(options, name, &OptionInfo::name);
    if (option == options.end()) return unknown_option(name, network, options);
    if (equals == std::string_view::npos) {
      return Error{.message = fmt::format("option '{}' has no value", name),
                   .advice = fmt::format("write {}=N, {}", name, range_of(*option))};
    }
    if (!given.insert(name).second) {
      return Error{.message = fmt::format("option '{}' is given twice", name), .advice = "keep one of the two"};
    }
    MONET_TRY(const std::int64_t value, parse_value(*option, item.substr(equals + 1)));
    values.set(name, value);
  }
  return values;
}

}  // namespace monet
