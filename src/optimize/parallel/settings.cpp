#include "optimize/parallel/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet::many_chips {

namespace {

using enum PipelineSchedule;

std::vector<std::int64_t> divisors_of(std::int64_t value) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t d = 1; d * d <= value; ++d) {
    if (value % d != 0) continue;
    low.push_back(d);
    if (d * d != value) high.push_back(value / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

template <class Value, class Wanted>
bool is_wanted(const Wanted& wanted, const Value& value) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

std::vector<PipelineSchedule> schedules_for(std::int64_t pp, std::int64_t chunks, std::int64_t micro_batches) {
  if (pp == 1) return {one_f_one_b};
  if (chunks > 1) {
    std::vector<PipelineSchedule> result;
    if (micro_batches % pp == 0) result.push_back(interleaved);
    return result;
  }
  std::vector<PipelineSchedule> result = {one_f_one_b, gpipe, zb_h1, zb_h2};
  if (micro_batches >= 2 * pp) result.push_back(zb_v);
  return result;
}

}  // namespace

const std::vector<std::vector<std::string>>& placement_orders() {
  static const std::vector<std::vector<std::string>> orders = {{"dp", "pp", "tp"}, {"pp", "dp", "tp"},
                                                               {"dp", "tp", "pp"}, {"tp", "dp", "pp"},
                                                               {"pp", "tp", "dp"}, {"tp", "pp", "dp"}};
  return orders;
}

Mesh Setting::mesh() const {
  Mesh mesh;
  for (const std::string& axis : placement_orders()[placement])
    mesh.axes.push_back({axis, axis == "dp" ? dp : axis == "pp" ? pp : chip.tp});
  return mesh;
}

std::string words_of(const Setting& setting) {
  std::string text = fmt::format("dp={},pp={},tp={},zero={}", setting.dp, setting.pp, setting.chip.tp, setting.zero);
  if (setting.chip.sequence) text += ",sequence=on";
  if (setting.pp > 1) text += fmt::format(",schedule={}", name_of(setting.schedule));
  if (setting.chunks > 1) text += fmt::format(",chunks={}", setting.chunks);
  if (setting.chip.recompute != training::RecomputeChoice::none)
    text += fmt::format(",recompute={}", name_of(setting.chip.recompute));
  if (setting.placement > 0) text += fmt::format(",order={}", fmt::join(placement_orders()[setting.placement], "-"));
  return text;
}

std::vector<ChipChoice> chip_choices(const SettingSpace& space, const ParallelSearchOptions& options) {
  std::vector<ChipChoice> result;
  for (std::int64_t micro_batch : divisors_of(space.batch)) {
    if (micro_batch > options.max_micro_batch || !is_wanted(options.micro_batches, micro_batch)) continue;
    for (std::int64_t tp : divisors_of(space.chips)) {
      if (!is_wanted(options.tp, tp)) continue;
      for (const auto recompute :
           {training::RecomputeChoice::none, training::RecomputeChoice::selective, training::RecomputeChoice::blocks}) {
        if (!is_wanted(options.recompute, std::string(name_of(recompute)))) continue;
        for (const bool sequence : {false, true}) {
          if (sequence && tp == 1) continue;
          result.push_back({.tp = tp, .micro_batch = micro_batch, .sequence = sequence, .recompute = recompute});
        }
      }
    }
  }
  return result;
}

std::vector<Setting> settings_of(const SettingSpace& space, const ChipChoice& chip,
                                 const ParallelSearchOptions& options) {
  std::vector<Setting> result;
  for (std::int64_t pp : divisors_of(space.chips / chip.tp)) {
    const std::int64_t dp = space.chips / chip.tp / pp;
    if (pp > static_cast<std::int64_t>(space.blocks) || space.batch % (dp * chip.micro_batch) != 0) continue;
    if (!is_wanted(options.pp, pp)) continue;
    const std::int64_t micro_batches = space.batch / dp / chip.micro_batch;
    const std::int64_t most_chunks = pp == 1 ? 1 : static_cast<std::int64_t>(space.blocks) / pp;
    for (std::int64_t chunks = 1; chunks <= most_chunks; ++chunks) {
      const bool even = chunks == 1 || static_cast<std::int64_t>(space.blocks) % (pp * chunks) == 0;
      if (!even || !is_wanted(options.chunks, chunks)) continue;
      for (const PipelineSchedule schedule : schedules_for(pp, chunks, micro_batches)) {
        if (schedule == zb_v && 2 * pp > static_cast<std::int64_t>(space.blocks)) continue;
        if (!is_wanted(options.schedules, std::string(name_of(schedule)))) continue;
        for (const int zero : {0, 1, 2, 3}) {
          if ((zero > 1 && pp > 1) || (zero > 0 && dp == 1)) continue;
          if (!is_wanted(options.zero, std::int64_t{zero})) continue;
          std::vector<Mesh> seen;
          for (std::size_t placement = 0; placement < (options.placements ? placements : 1); ++placement) {
            Setting setting{.chip = chip,
                            .chips = space.chips,
                            .pp = pp,
                            .dp = dp,
                            .micro_batches = micro_batches,
                            .chunks = chunks,
                            .schedule = schedule,
                            .zero = zero,
                            .placement = placement};
            // Orders that differ in axes of one chip are one.
            Mesh mesh = setting.mesh();
            std::erase_if(mesh.axes, [](const MeshAxis& axis) { return axis.size == 1; });
            if (std::ranges::find(seen, mesh) != seen.end()) continue;
            seen.push_back(std::move(mesh));
            result.push_back(setting);
          }
        }
      }
    }
  }
  return result;
}

SettingBounds::SettingBounds(const StepProfile& profile, std::size_t blocks)
    : profile_(profile), blocks_(static_cast<double>(blocks)) {
  for (const BlockProfile& block : profile.blocks) {
    forward_ += block[StepPart::forward].seconds;
    backward_ += block[StepPart::input_gradients].seconds + block[StepPart::weight_gradients].seconds;
    update_ += block[StepPart::update].seconds;
  }
  const auto add = [&](const BlockProfile& block) {
    for (StepPart part : {StepPart::forward, StepPart::input_gradients, StepPart::weight_gradients})
      energy_ += block[part].energy_pj;
    update_energy_ += block[StepPart::update].energy_pj;
  };
  add(profile.before);
  add(profile.after);
  least_ = profile.blocks.front();
  for (const BlockProfile& block : profile.blocks) {
    add(block);
    least_.weight_bytes = std::min(least_.weight_bytes, block.weight_bytes);
    least_.gradient_bytes = std::min(least_.gradient_bytes, block.gradient_bytes);
    least_.state_bytes = std::min(least_.state_bytes, block.state_bytes);
    least_.kept_bytes = std::min(least_.kept_bytes, block.kept_bytes);
  }
}

std::int64_t SettingBounds::memory_bytes(const Setting& setting) const {
  const BlockProfile& block = least_;
  const auto piece = [&](std::int64_t bytes, int from) { return setting.zero >= from ? bytes / setting.dp : bytes; };
  // A chip has at least as many blocks as if they were dealt evenly, but for those that embeddings and head replace.
  const std::int64_t least = setting.pp == 1 ? static_cast<std::int64_t>(blocks_) : 1;
  const std::int64_t most =
      static_cast<std::int64_t>((blocks_ + static_cast<double>(setting.pp) - 1) / static_cast<double>(setting.pp));
  const std::int64_t own = piece(block.weight_bytes, 3) + piece(block.gradient_bytes, 2) + piece(block.state_bytes, 1);
  // Some chip has the ceiling of the mean; whichever it is holds one micro-batch at least.
  std::int64_t need = most * (own + block.kept_bytes);
  if (setting.schedule == gpipe) need = most * (own + setting.micro_batches * block.kept_bytes);
  if (setting.pp == 1) {
    const auto of = [&](const BlockProfile& end) {
      return piece(end.weight_bytes, 3) + piece(end.gradient_bytes, 2) + piece(end.state_bytes, 1) + end.kept_bytes;
    };
    need = least * (own + block.kept_bytes) + of(profile_.before) + of(profile_.after);
  }
  return need;
}

double SettingBounds::seconds(const Setting& setting) const {
  const auto pp = static_cast<double>(setting.pp), m = static_cast<double>(setting.micro_batches);
  const double ends = profile_.before[StepPart::forward].seconds + profile_.before[StepPart::input_gradients].seconds +
                      profile_.after[StepPart::forward].seconds + profile_.after[StepPart::input_gradients].seconds +
                      profile_.after[StepPart::weight_gradients].seconds;
  // The busiest chip has at least the mean of all work.
  const double work = (forward_ + backward_ + ends) / pp;
  return m * work + update_ / pp / (setting.zero >= 1 ? static_cast<double>(setting.dp) : 1);
}

double SettingBounds::energy_pj(const Setting& setting) const {
  const auto groups = static_cast<double>(setting.dp * setting.chip.tp);
  return groups * (static_cast<double>(setting.micro_batches) * energy_ +
                   update_energy_ / (setting.zero >= 1 ? static_cast<double>(setting.dp) : 1));
}

}  // namespace monet::many_chips
