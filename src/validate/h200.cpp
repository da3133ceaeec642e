// Measured training steps against the preset h200, which is made from the data sheet: nothing is tuned.
#include "base/try.h"
#include "evaluate/run/evaluate_network.h"
#include "graph/graph.h"
#include "mapping/cache.h"
#include "validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace monet {

namespace {

// Pieces of loops that are put in every order. Three instead of six changed latencies by 0.1 % where both were run, and
// take less than a sixth of the time.
constexpr std::int64_t factors = 3;

StepRequest options_of(const MeasuredStep& measured, const ValidateOptions& options) {
  StepRequest how;
  how.train = train_options_of(measured);
  how.machine = "h200";
  how.factors = factors;
  how.order = "graph";  // kernels of one stream
  how.compare = how.pack = how.advise = false;
  how.lifetimes = true;
  how.jobs = options.jobs;
  if (measured.precision == "tf32") how.products = "tf32";
  if (measured.checkpoint) how.recompute = {"blocks"};
  return how;
}

// Bytes of all tensors that are alive at a time, at most. A tensor has its place in memory from when it is first
// anywhere until it is last, also where it never leaves the cache; what replaces a value has the place of the old one.
double allocated_peak(const std::vector<Lifetime>& lifetimes) {
  struct Place {
    double start = 0, end = 0;
    std::int64_t bytes = 0;
  };
  std::map<std::string, Place> places;
  const auto place_of = [&](const std::string& name) -> Place& {
    constexpr std::string_view replaced = ".new";
    const auto old = places.find(name.ends_with(replaced) ? name.substr(0, name.size() - replaced.size()) : name);
    return old != places.end() ? old->second : places[name];
  };
  for (const Lifetime& life : lifetimes) {
    if (life.role == name_of(Role::workspace)) continue;
    Place& place = place_of(life.name);
    place.start = place.bytes == 0 ? life.start : std::min(place.start, life.start);
    place.end = std::max(place.end, life.end);
    place.bytes = std::max(place.bytes, life.bytes);
  }
  std::vector<std::pair<double, std::int64_t>> events;  // what goes comes before what comes
  for (const auto& [name, place] : places) {
    events.emplace_back(place.start, place.bytes);
    events.emplace_back(place.end, -place.bytes);
  }
  std::ranges::sort(events);
  std::int64_t now = 0, most = 0;
  for (const auto& [time, bytes] : events) most = std::max(most, now += bytes);
  return static_cast<double>(most);
}

void add_rows(Validation& validation, const MeasuredStep& measured, const Expected<Evaluation>& modelled) {
  std::string aside;
  double milliseconds = 0, millijoules = 0, bytes = 0;
  if (modelled) {
    milliseconds = modelled->latency_s * 1e3;
    millijoules = modelled->energy_pj * 1e-9;
    bytes = allocated_peak(modelled->lifetimes);
  } else {
    aside = fmt::format("cannot be evaluated: {}: {}", modelled.error().place, modelled.error().message);
  }
  validation.rows.push_back({measured.name(), "step ms", measured.step_ms, milliseconds, aside});
  validation.rows.push_back({measured.name(), "step mJ", measured.energy_mj, millijoules, aside});
  validation.rows.push_back({measured.name(), "peak bytes", static_cast<double>(measured.peak_bytes), bytes, aside});
}

}  // namespace

Expected<Validation> validate_h200(const std::string& data, const ValidateOptions& options) {
  MONET_TRY(const std::vector<MeasuredStep> steps, wanted_steps(data, options));
  Validation validation{.name = "h200", .rows = {}, .notes = {}};
  MappingCache cache;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (options.stop && options.stop()) break;
    if (options.progress) options.progress(steps[i].name(), i, steps.size());
    add_rows(validation, steps[i], evaluate_network(model_of(steps[i], data), options_of(steps[i], options), cache));
  }
  validation.notes = {
      "step ms: the measured step replayed as one graph of kernels, against the makespan of the default plan (each "
      "operator by itself, no fusion) in the order of the network",
      "step mJ: of the whole board, against what operations, memories and leakage of the chip's description take",
      "peak bytes: the largest of the peaks of the three phases, with workspaces of libraries, against the bytes of "
      "all "
      "tensors alive at a time, also of those that never leave the cache",
      "tf32: products of fp32 numbers at the rate of tf32; checkpointed: all that residual and transformer blocks save "
      "inside is computed again",
  };
  return validation;
}

}  // namespace monet
