#include "base/suggest.h"
#include "base/try.h"
#include "remat/json_fields.h"
#include "remat/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace monet::remat {

namespace {

std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// "mkr1000(m0)" is also mkr1000 and m0.
std::vector<std::string> names_of(const std::string& key) {
  std::vector<std::string> names = {key};
  const std::size_t open = key.find('('), close = key.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return names;
  names.push_back(key.substr(0, open));
  names.push_back(key.substr(open + 1, close - open - 1));
  return names;
}

Expected<double> positive(const Field& device, const char* key) {
  MONET_TRY(const Field field, device.at(key));
  MONET_TRY(const double value, field.amount());
  constexpr double least = 1e-30;
  if (value < least) return field.wrong(fmt::format("{} is too little", value), "give a number from 1e-30 on");
  return value;
}

Expected<double> amount(const Field& device, const char* key) {
  MONET_TRY(const Field field, device.at(key));
  return field.amount();
}

// The key of the device called so.
Expected<std::string> find_key(const Field& devices, const std::string& name) {
  std::vector<std::string> candidates, firsts;
  for (const auto& item : devices.value().items()) {
    for (const std::string& other : names_of(item.key())) {
      if (plain(other) == plain(name) && !plain(name).empty()) return item.key();
      candidates.push_back(other);
    }
    firsts.push_back(item.key());
  }
  const std::string guess = nearest(name, candidates);
  constexpr std::size_t most = 20;
  firsts.resize(std::min(firsts.size(), most));
  return devices.wrong(fmt::format("there is no device called '{}'", name),
                       guess.empty() ? fmt::format("devices are {}", fmt::join(firsts, ", "))
                                     : fmt::format("did you mean '{}'?", guess));
}

}  // namespace

Expected<Device> read_device(std::string_view text, const std::string& file, const std::string& name) {
  MONET_TRY(const Json json, parse_json(text, file));
  const Field root(json, file);
  MONET_TRY(const Field devices, root.at("devices"));
  if (!devices.value().is_object()) return devices.wrong("an object is expected here", "give devices by their names");
  MONET_TRY(const std::string key, find_key(devices, name));
  MONET_TRY(const Field field, devices.at(key.c_str()));
  for (const char* rate : {"FLOPS", "FLOPS_PER_WATT"})
    if (field.value().is_object() && !field.has(rate))
      return field.wrong(fmt::format("the device '{}' has no {}, so nothing can be computed on it", key, rate),
                         fmt::format("add {}, or choose another device", rate));
  Device device{.name = key};
  MONET_TRY(device.flop_per_s, positive(field, "FLOPS"));
  MONET_TRY(device.flop_per_j, positive(field, "FLOPS_PER_WATT"));
  MONET_TRY(device.element_bytes, positive(field, "TYPE"));
  MONET_TRY(device.channel.in_latency_s, amount(field, "PAGEIN_LATENCY"));
  MONET_TRY(device.channel.in_bytes_per_s, positive(field, "PAGEIN_THROUGHPUT"));
  MONET_TRY(device.channel.out_latency_s, amount(field, "PAGEOUT_LATENCY"));
  MONET_TRY(device.channel.out_bytes_per_s, positive(field, "PAGEOUT_THROUGHPUT"));
  MONET_TRY(device.channel.power_w, amount(field, "MEMORY_POWER"));
  return device;
}

}  // namespace monet::remat
