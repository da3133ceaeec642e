#include "explore/methods/methods.h"

#include "base/suggest.h"
#include "base/try.h"
#include "explore/methods/each_method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet::explore {

namespace {

using Search = Expected<Searched> (*)(const Space&, const MethodOptions&, std::size_t, const Ask&);

struct Entry {
  Method method;
  Search search;
  std::size_t (*samples)(const Space&);  // its own
};

std::uint64_t all_of(const Space& space) { return space.size(); }

// Under a tenth of the space, but a hundred at least.
std::size_t tenth_of(const Space& space) {
  constexpr std::uint64_t least = 100, most = 2000;
  return std::min(space.size(), std::clamp((space.size() - 1) / 10, least, most));
}

// As many for each axis with a choice.
std::size_t few_of(const Space& space) {
  constexpr std::uint64_t of_axis = 25, least = 50;
  const auto axes = static_cast<std::uint64_t>(
      std::ranges::count_if(space.axes, [](const Axis& axis) { return axis.texts.size() > 1; }));
  return std::min(space.size(), std::max(of_axis * axes, least));
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"all", "every design, in order"}, look_at_all, all_of},
      {{"random", "different designs by chance"}, look_at_random, tenth_of},
      {{"sobol", "different designs evenly over all parameters, by Sobol's sequence"}, look_evenly, tenth_of},
      {{"nsga2", "genetic search for the whole front"}, evolve, tenth_of},
      {{"surrogate", "few designs, chosen by a model of those seen (Gaussian processes)"},
       look_where_promising,
       few_of},
      {{"narrow", "a coarse grid, then ever closer to its front"}, narrow_down, tenth_of},
  };
  return all;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = [] {
    std::vector<Method> list;
    for (const Entry& entry : entries()) list.push_back(entry.method);
    return list;
  }();
  return all;
}

Expected<Searched> search(const Space& space, const MethodOptions& options, const Ask& ask) {
  const auto found = std::ranges::find(entries(), options.method, [](const Entry& entry) { return entry.method.name; });
  if (found == entries().end()) {
    std::vector<std::string> names;
    for (const Method& method : methods()) names.push_back(method.name);
    const std::string near = nearest(options.method, names);
    return Error{
        .message = fmt::format("there is no method '{}'", options.method),
        .place = "--method",
        .advice = near.empty() ? fmt::format("{}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near)};
  }
  const std::size_t samples =
      options.samples > 0 ? std::min<std::uint64_t>(options.samples, space.size()) : found->samples(space);
  return found->search(space, options, samples, ask);
}

}  // namespace monet::explore
