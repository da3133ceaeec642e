// The parameters of a space: the values that each may take.
#pragma once

#include "config/yaml.h"
#include "explore/space/space.h"

#include <vector>

namespace monet::explore {

constexpr std::size_t most_axes = 64;
constexpr std::size_t most_values = 4096;
constexpr std::uint64_t most_designs = std::uint64_t{1} << 48;

struct ParameterTable {
  std::vector<Axis> axes;
  std::vector<Derived> derived;
  std::vector<std::vector<Place>> value_places;  // by axis and value
  std::vector<Place> derived_places;
};

// A list of values, {from, to, step}, {powers_of_two: 16..128}, one value, or an expression of other parameters.
Expected<ParameterTable> read_parameter_table(const Yaml& node);

}  // namespace monet::explore
