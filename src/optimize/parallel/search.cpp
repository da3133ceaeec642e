// Every setting is decided: by a bound on its memory, by bounds that a better one is below, or exactly.
#include "base/quantities.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "evaluate/open/numbers.h"
#include "evaluate/stages/pipeline_words.h"
#include "hardware/hardware.h"
#include "optimize/parallel/chip_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace monet {

namespace many_chips {

namespace {

constexpr std::size_t most_examples = 5;

bool is_no_better(const ParallelSetting& a, const ParallelSetting& b) {
  return a.seconds >= b.seconds && a.peak_bytes >= b.peak_bytes && a.energy_pj >= b.energy_pj && a.chips >= b.chips;
}

class ParallelSearching {
 public:
  ParallelSearching(const Network& network, const ParallelSearchOptions& options, const Hardware& hardware,
                    const StepRequest& request)
      : options_(options), hardware_(hardware), request_(request), profiles_(network, request, hardware) {
    result_.model = network.name();
    result_.hardware = hardware.name;
    result_.objective = options.objective;
    result_.chips = options.chips;
    result_.batch = *request.train.batch;
  }

  Expected<ParallelSearch> run() {
    const auto start = std::chrono::steady_clock::now();
    MONET_TRY(const std::size_t blocks, profiles_.blocks());
    capacity_ = options_.memory_bytes > 0 ? options_.memory_bytes : capacity_of();
    result_.rejected_csv = "setting,micro_batch,chips,reason,needs,has\n";
    for (std::int64_t chips : chip_counts()) {
      const SettingSpace space{.chips = chips, .batch = result_.batch, .blocks = blocks};
      const std::vector<ChipChoice> choices = chip_choices(space, options_);
      for (std::size_t i = 0; i < choices.size(); ++i) {
        if (options_.stop && options_.stop()) {
          result_.complete = false;
          break;
        }
        if (options_.progress) options_.progress("settings of chips", i, choices.size());
        decide_all(space, choices[i]);
      }
    }
    finish();
    result_.chip_graphs = profiles_.made();
    result_.graphs_s = profiles_.seconds();
    result_.wall_s = seconds_since(start);
    result_.settings_per_s = static_cast<double>(result_.settings) / std::max(result_.wall_s, 1e-9);
    return std::move(result_);
  }

 private:
  std::int64_t capacity_of() const {
    std::int64_t bytes = 0;
    for (const Memory& memory : hardware_.memories) {
      if (memory.kind == MemoryKind::dram) bytes = std::max(bytes, memory.size_bits / 8);
    }
    return bytes;
  }

  // Where the fewest chips are wanted: halves of all, as long as they lie on the fabric.
  std::vector<std::int64_t> chip_counts() const {
    std::vector<std::int64_t> counts = {options_.chips};
    while (options_.objective == "chips" && counts.back() % 2 == 0) counts.push_back(counts.back() / 2);
    return counts;
  }

  void reject(const Setting& setting, const std::string& reason, const std::string& needs, const std::string& has) {
    auto found = std::ranges::find(result_.rejected, reason, &ParallelRejection::reason);
    if (found == result_.rejected.end()) {
      result_.rejected.push_back({.reason = reason});
      found = result_.rejected.end() - 1;
    }
    ++found->settings;
    if (found->examples.size() < most_examples)
      found->examples.push_back(fmt::format("{} in micro-batches of {}: {}{}", words_of(setting),
                                            setting.chip.micro_batch, needs, has.empty() ? "" : " of " + has));
    fmt::format_to(std::back_inserter(result_.rejected_csv), "\"{}\",{},{},{},\"{}\",\"{}\"\n", words_of(setting),
                   setting.chip.micro_batch, setting.chips, reason, needs, has);
  }

  void decide_all(const SettingSpace& space, const ChipChoice& chip) {
    const std::vector<Setting> settings = settings_of(space, chip, options_);
    result_.settings += settings.size();
    for (const Setting& setting : settings) {
      if (const std::int64_t least = least_known(setting); least > capacity_) {
        ++result_.by_bounds;
        reject(setting, "memory", "at least " + byte_size(least), byte_size(capacity_));
        continue;
      }
      const auto network = network_for(setting);
      if (!*network) {
        reject(setting, "placement", network->error().message, "");
        continue;
      }
      const auto profile = profiles_.of(chip, setting.micro_batches > 1, **network);
      if (!profile) {
        reject(setting, "split", profile.error().message, "");
        continue;
      }
      decide(setting, **profile, **network);
    }
  }

  // From the same chips with smaller micro-batches: what a sample keeps, as many times.
  std::int64_t least_known(const Setting& setting) const {
    std::int64_t least = 0;
    for (const auto& [choice, bytes] : kept_of_sample_) {
      if (is_alike(choice, setting.chip))
        least = std::max(least, bytes * setting.chip.micro_batch * blocks_of_chip(setting));
    }
    return least;
  }
  std::int64_t blocks_of_chip(const Setting& setting) const { return (blocks_ + setting.pp - 1) / setting.pp; }

  const Expected<ChipNetwork>* network_for(const Setting& setting) {
    const Mesh mesh = setting.mesh();
    std::string key;
    for (const MeshAxis& axis : mesh.axes) key += fmt::format("{}={},", axis.name, axis.size);
    auto found = networks_.find(key);
    if (found == networks_.end())
      found = networks_.emplace(key, std::make_unique<Expected<ChipNetwork>>(network_of(hardware_, mesh, true))).first;
    return found->second.get();
  }

  ParallelSetting described(const Setting& setting) const {
    return {.words = words_of(setting), .chips = setting.chips, .micro_batch = setting.chip.micro_batch};
  }

  const SettingBounds& bounds_of(const ChipProfile& profile) {
    auto found = bounds_.find(&profile);
    if (found == bounds_.end()) {
      blocks_ = static_cast<std::int64_t>(profile.profile.blocks.size());
      found = bounds_.emplace(&profile, SettingBounds(profile.profile, profile.profile.blocks.size())).first;
    }
    return found->second;
  }

  void decide(const Setting& setting, const ChipProfile& chip, const ChipNetwork& network) {
    const SettingBounds& bounds = bounds_of(chip);
    remember_kept(setting, chip);
    ParallelSetting least = described(setting);
    least.peak_bytes = bounds.memory_bytes(setting);
    if (least.peak_bytes > capacity_) {
      ++result_.by_bounds;
      reject(setting, "memory", "at least " + byte_size(least.peak_bytes), byte_size(capacity_));
      return;
    }
    least.seconds = bounds.seconds(setting);
    least.energy_pj = bounds.energy_pj(setting);
    if (options_.deadline_s > 0 && least.seconds > options_.deadline_s) {
      ++result_.by_bounds;
      reject(setting, "deadline", "at least " + seconds_text(least.seconds), seconds_text(options_.deadline_s));
      return;
    }
    const auto better = std::ranges::find_if(front_, [&](const auto& each) { return is_no_better(least, each.first); });
    if (better != front_.end()) {
      ++result_.by_bounds;
      reject(setting, "time",
             fmt::format("at least {} with {} or more", seconds_text(least.seconds), byte_size(least.peak_bytes)),
             better->first.words);
      return;
    }
    price(setting, chip, network, std::move(least));
  }

  void remember_kept(const Setting& setting, const ChipProfile& chip) {
    const auto same = [&](const auto& known) { return is_alike(known.first, setting.chip); };
    if (std::ranges::any_of(kept_of_sample_, same)) return;
    std::int64_t least = chip.profile.blocks.front().kept_data_bytes;
    for (const BlockProfile& block : chip.profile.blocks) least = std::min(least, block.kept_data_bytes);
    kept_of_sample_.emplace_back(setting.chip, least / setting.chip.micro_batch);
  }

  static bool is_alike(const ChipChoice& a, const ChipChoice& b) {
    return a.tp == b.tp && a.sequence == b.sequence && a.recompute == b.recompute;
  }

  void price(const Setting& setting, const ChipProfile& chip, const ChipNetwork& network, ParallelSetting made) {
    PipelineSettings how{.schedule = setting.schedule,
                         .chunks = static_cast<std::uint32_t>(setting.chunks),
                         .micro_batches = static_cast<std::uint32_t>(setting.micro_batches)};
    how.zero = setting.zero;
    how.scatter = setting.chip.sequence ? 1 : setting.chip.tp;
    const auto step = pipelined(chip.profile, how, network);
    ++result_.exactly;
    if (!step) {
      reject(setting, "shape", step.error().message, "");
      return;
    }
    made.seconds = step->seconds;
    made.energy_pj = step->energy_pj;
    made.peak_bytes = step->peak_bytes();
    made.bubble_fraction = step->bubble_fraction;
    made.exposed_tp_s = step->tp.exposed_s;
    made.exposed_dp_s = step->dp.exposed_s;
    made.exposed_pp_s = step->pp.exposed_s;
    made.tokens_per_s = static_cast<double>(result_.batch * chip.tokens) / made.seconds;
    const double peak = peak_operations(hardware_, Count::mac, request_.train.precision);
    if (peak > 0)
      made.mfu = 2 * chip.model_macs * static_cast<double>(setting.micro_batches * setting.dp) /
                 (peak * static_cast<double>(setting.chips) * made.seconds);
    if (made.peak_bytes > capacity_) {
      reject(setting, "memory", byte_size(made.peak_bytes), byte_size(capacity_));
      return;
    }
    if (options_.deadline_s > 0 && made.seconds > options_.deadline_s) {
      reject(setting, "deadline", seconds_text(made.seconds), seconds_text(options_.deadline_s));
      return;
    }
    insert(setting, std::move(made));
  }

  void insert(const Setting& setting, ParallelSetting made) {
    const auto better = std::ranges::find_if(front_, [&](const auto& each) { return is_no_better(made, each.first); });
    if (better != front_.end()) {
      reject(setting, "time", fmt::format("{} with {}", seconds_text(made.seconds), byte_size(made.peak_bytes)),
             better->first.words);
      return;
    }
    for (const auto& [out, as] : front_) {
      if (is_no_better(out, made))
        reject(as, "time", fmt::format("{} with {}", seconds_text(out.seconds), byte_size(out.peak_bytes)), made.words);
    }
    std::erase_if(front_, [&](const auto& each) { return is_no_better(each.first, made); });
    front_.emplace_back(std::move(made), setting);
  }

  double value_of(const ParallelSetting& setting) const {
    if (options_.objective == "energy") return setting.energy_pj;
    if (options_.objective == "chips") return static_cast<double>(setting.chips);
    return setting.seconds;
  }

  void finish() {
    std::ranges::stable_sort(front_, [](const auto& a, const auto& b) { return a.first.seconds < b.first.seconds; });
    for (const auto& [made, setting] : front_) result_.front.push_back(made);
    result_.feasible = !front_.empty();
    if (!result_.feasible) return;
    const auto best = std::ranges::min_element(
        front_, [&](const auto& a, const auto& b) { return value_of(a.first) < value_of(b.first); });
    result_.best = best->first;
    Plan plan;
    plan.parallel = planned(best->second);
    result_.plan_yaml = to_yaml(plan);
  }

  static PlannedParallel planned(const Setting& setting) {
    PlannedParallel result;
    for (const MeshAxis& axis : setting.mesh().axes) {
      if (axis.size > 1 || axis.name != "pp") result.mesh.emplace_back(axis.name, axis.size);
    }
    result.zero = setting.zero;
    result.sequence = setting.chip.sequence;
    result.micro_batch = setting.chip.micro_batch;
    if (setting.chip.recompute != training::RecomputeChoice::none) result.recompute = name_of(setting.chip.recompute);
    if (setting.pp > 1) result.stages.schedule = name_of(setting.schedule);
    result.stages.chunks = setting.chunks;
    return result;
  }

  const ParallelSearchOptions& options_;
  const Hardware& hardware_;
  const StepRequest& request_;
  ChipProfiles profiles_;
  std::int64_t capacity_ = 0, blocks_ = 1;
  std::map<std::string, std::unique_ptr<Expected<ChipNetwork>>> networks_;
  std::map<const ChipProfile*, SettingBounds> bounds_;
  std::vector<std::pair<ChipChoice, std::int64_t>> kept_of_sample_;
  std::vector<std::pair<ParallelSetting, Setting>> front_;
  ParallelSearch result_;
};

}  // namespace

}  // namespace many_chips

Expected<ParallelSearch> search_parallel(const Network& network, const ParallelSearchOptions& options) {
  MONET_TRY(const std::shared_ptr<const Hardware> hardware, options.step.machine.hardware());
  if (options.chips < 1 || !options.step.train.batch)
    return Error{.message = "a search needs the number of chips and the batch of all of them",
                 .place = "--chips",
                 .advice = "say --chips and --batch"};
  if (options.objective != "time" && options.objective != "energy" && options.objective != "chips")
    return Error{.message = fmt::format("there is no objective \"{}\"", options.objective),
                 .place = "--objective",
                 .advice = "time, energy or chips"};
  StepRequest request = options.step;
  MONET_TRY(const NumberChoice numbers, choose_numbers(network, *hardware, request.train, false));
  request.train.precision = numbers.precision();
  MONET_TRY(const auto laws, laws_of(*hardware));
  return many_chips::ParallelSearching(network, options, *hardware, request).run();
}

}  // namespace monet
