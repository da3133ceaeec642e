#include "graph/role_choice.h"

#include "base/glob.h"
#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

bool any_matches(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches(pattern, name); });
}

bool may_be_chosen(const Tensor& tensor) { return !tensor.producer.valid() && is_floating(tensor.type.format.element); }

Status check_patterns(const Graph& graph, const std::vector<std::string>& patterns, const char* option) {
  for (const std::string& pattern : patterns) {
    std::vector<std::string> names;
    bool found = false;
    for (const Tensor& tensor : graph.tensors()) {
      if (!may_be_chosen(tensor)) continue;
      found |= matches(pattern, tensor.name);
      names.push_back(tensor.name);
    }
    if (found) continue;
    const std::string guess = monet::nearest(pattern, names);
    return Error{.message = fmt::format("no floating-point tensor of the file matches '{}'", pattern),
                 .place = option,
                 .advice = guess.empty()
                               ? "quote patterns, as in 'layers.*.bias'; monet train --parameters and the notes "
                                 "of monet inspect list names"
                               : fmt::format("did you mean '{}'?", guess)};
  }
  return Done{};
}

}  // namespace

bool RoleChoice::names(std::string_view tensor) const {
  return any_matches(parameters, tensor) || any_matches(buffers, tensor);
}

bool RoleChoice::names_parameter(std::string_view tensor) const { return any_matches(parameters, tensor); }

Status choose_roles(Graph& graph, const RoleChoice& choice) {
  MONET_RETURN_IF_ERROR(check_patterns(graph, choice.parameters, "--parameter"));
  MONET_RETURN_IF_ERROR(check_patterns(graph, choice.buffers, "--buffer"));
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    Tensor& tensor = graph[TensorId(i)];
    if (!may_be_chosen(tensor)) continue;
    const bool parameter = any_matches(choice.parameters, tensor.name);
    const bool buffer = any_matches(choice.buffers, tensor.name);
    if (parameter && buffer) {
      return Error{.message = fmt::format("'{}' is named as a parameter and as a buffer", tensor.name),
                   .place = "--buffer",
                   .advice = "let only one of --parameter and --buffer match it"};
    }
    if (parameter) {
      tensor.role = Role::weight;
      tensor.parameter = true;
      graph.constants.erase(TensorId(i));  // another value after each step
    }
    if (buffer && tensor.parameter) {
      tensor.role = Role::constant;
      tensor.parameter = false;
    }
  }
  return Done{};
}

}  // namespace monet
