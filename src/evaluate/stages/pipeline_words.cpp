#include "evaluate/stages/pipeline_words.h"

#include "base/try.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace monet {

namespace {

constexpr std::int64_t most_stages = 1 << 20;

Error wrong_stages(std::string message, std::string advice) {
  return {.message = std::move(message), .place = "--parallel", .advice = std::move(advice)};
}

std::optional<std::int64_t> count_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most_stages) return std::nullopt;
  return value;
}

Expected<std::int64_t> count_of(std::string_view key, std::string_view value) {
  if (const auto number = count_in(value)) return *number;
  return wrong_stages(fmt::format("{} needs a whole number from 1 on, not '{}'", key, value), "for example pp=4");
}

Status check_schedule(const PlannedStages& stages) {
  if (stages.schedule.empty()) return Done{};
  MONET_TRY(const PipelineSchedule schedule, pipeline_schedule(stages.schedule));
  (void)schedule;
  return Done{};
}

Status set_cut(PlannedStages& stages, std::string_view value) {
  if (value == "balanced" || value == "equal") {
    stages.cut = value;
    return Done{};
  }
  while (!value.empty()) {
    const std::string_view part = value.substr(0, value.find('+'));
    value.remove_prefix(std::min(value.size(), part.size() + 1));
    const auto size = count_in(part);
    if (!size)
      return wrong_stages(fmt::format("'{}' is no number of blocks", part),
                          "cut is balanced, equal, or the blocks of each stage: cut=12+12");
    stages.sizes.push_back(*size);
  }
  return Done{};
}

Status set_word(PipelineOptions& options, std::string_view key, std::string_view value) {
  if (key == "pp") {
    MONET_TRY(options.chips, count_of(key, value));
    options.said = true;
  } else if (key == "chunks") {
    MONET_TRY(options.stages.chunks, count_of(key, value));
  } else if (key == "schedule") {
    options.stages.schedule = value;
    return check_schedule(options.stages);
  } else if (key == "order") {
    for (std::string_view left = value; !left.empty();) {
      const std::string_view axis = left.substr(0, left.find('-'));
      left.remove_prefix(std::min(left.size(), axis.size() + 1));
      options.order.emplace_back(axis);
    }
  } else if (key == "cut") {
    return set_cut(options.stages, value);
  } else {
    MONET_TRY(options.recompute, training::recompute_choice(value));
  }
  return Done{};
}

}  // namespace

Expected<PipelineOptions> take_pipeline_words(std::string& text) {
  constexpr std::array<std::string_view, 6> own = {"pp", "schedule", "chunks", "cut", "recompute", "order"};
  PipelineOptions options;
  std::vector<std::string_view> seen;
  std::string rest;
  std::string_view left = text;
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    const std::string_view key = word.substr(0, word.find('='));
    if (std::ranges::find(own, key) == own.end()) {
      rest += rest.empty() ? "" : ",";
      rest += word;
      continue;
    }
    if (std::ranges::find(seen, key) != seen.end())
      return wrong_stages(fmt::format("'{}' is said twice", key), "say it once");
    seen.push_back(key);
    MONET_RETURN_IF_ERROR(
        set_word(options, key, word.size() > key.size() ? word.substr(key.size() + 1) : std::string_view()));
  }
  text = std::move(rest);
  return options;
}

Expected<PipelineOptions> pipeline_of(const PlannedParallel& planned) {
  PipelineOptions options;
  for (const auto& [axis, size] : planned.mesh) {
    if (axis == "pp") options.chips = size, options.said = true;
  }
  for (const auto& [axis, size] : planned.mesh) options.order.push_back(axis);
  options.stages = planned.stages;
  MONET_RETURN_IF_ERROR(check_schedule(options.stages));
  if (!planned.stages.cut.empty()) MONET_RETURN_IF_ERROR(set_cut(options.stages, planned.stages.cut));
  if (!planned.recompute.empty()) {
    MONET_TRY(options.recompute, training::recompute_choice(planned.recompute));
  }
  return options;
}

void add_pipeline_axis(parallel::ParallelOptions& options, std::int64_t chips) {
  auto at = options.mesh.axes.begin();
  if (at != options.mesh.axes.end() && at->name == "dp") ++at;
  options.mesh.axes.insert(at, {"pp", chips});
}

Status put_in_order(parallel::ParallelOptions& options, const std::vector<std::string>& order) {
  if (order.empty()) return Done{};
  Mesh mesh;
  for (const std::string& name : order) {
    const auto axis = options.mesh.find(name);
    if (!axis || mesh.find(name))
      return wrong_stages(fmt::format("order={} names {}", fmt::join(order, "-"),
                                      axis ? fmt::format("{} twice", name) : fmt::format("'{}', no axis", name)),
                          "name each axis of several chips once: order=dp-pp-tp");
    mesh.axes.push_back(options.mesh.axes[*axis]);
  }
  for (const MeshAxis& axis : options.mesh.axes) {
    if (mesh.find(axis.name)) continue;
    if (axis.size > 1)
      return wrong_stages(fmt::format("order={} leaves out {}", fmt::join(order, "-"), axis.name),
                          "name each axis of several chips once: order=dp-pp-tp");
    mesh.axes.push_back(axis);
  }
  options.mesh = std::move(mesh);
  return Done{};
}

Expected<PipelineSettings> pipeline_settings(const PipelineOptions& pipeline, const parallel::ParallelOptions& options,
                                             std::int64_t micro_batches) {
  PipelineSettings settings;
  const PlannedStages& stages = pipeline.stages;
  if (!stages.schedule.empty()) {
    MONET_TRY(settings.schedule, pipeline_schedule(stages.schedule));
  } else if (stages.chunks > 1) {
    settings.schedule = PipelineSchedule::interleaved;
  }
  if (micro_batches > std::numeric_limits<std::uint32_t>::max())
    return wrong_stages(fmt::format("{} micro-batches are too many", micro_batches), "choose a larger --micro-batch");
  settings.chunks = static_cast<std::uint32_t>(stages.chunks);
  settings.micro_batches = static_cast<std::uint32_t>(micro_batches);
  settings.cut = stages.cut == "equal" ? StageCut::equal : StageCut::balanced;
  for (std::int64_t size : stages.sizes) settings.sizes.push_back(static_cast<std::size_t>(size));
  settings.zero = options.zero;
  settings.overlap = options.overlap;
  // With split tokens each chip of tp has its own of what passes on; else each sends a part of what all have.
  settings.scatter = options.sequence ? 1 : options.size("tp");
  return settings;
}

std::string to_text(const PipelineOptions& options) {
  std::string text;
  if (!options.stages.schedule.empty()) text += ",schedule=" + options.stages.schedule;
  if (options.stages.chunks > 1) text += fmt::format(",chunks={}", options.stages.chunks);
  if (!options.stages.cut.empty()) text += ",cut=" + options.stages.cut;
  if (!options.stages.sizes.empty()) text += fmt::format(",cut={}", fmt::join(options.stages.sizes, "+"));
  if (options.recompute != training::RecomputeChoice::none)
    text += fmt::format(",recompute={}", name_of(options.recompute));
  return text;
}

}  // namespace monet
