#include "evaluate/stages/pipelined_step.h"

#include "base/try.h"
#include "evaluate/stages/data_parallel.h"
#include "pipeline/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace monet {

namespace {

double work_of(const BlockProfile& block) {
  return block[StepPart::forward].seconds + block[StepPart::input_gradients].seconds +
         block[StepPart::weight_gradients].seconds;
}

class Composing {
 public:
  Composing(const StepProfile& profile, const PipelineSettings& settings, const ChipNetwork& network)
      : profile_(profile), settings_(settings), network_(network), exchanges_(network) {}

  Expected<PipelinedStep> run() {
    chips_ = static_cast<std::uint32_t>(size_of("pp"));
    if (chips_ > 1 && settings_.zero > 1)
      return Error{
          .message = fmt::format("zero={} gathers weights or scatters gradients with each micro-batch, which is "
                                 "not known of pipelines",
                                 settings_.zero),
          .place = "--parallel",
          .advice = "choose zero=0 or zero=1 beside pp"};
    MONET_TRY(result_.order,
              pipeline_order(settings_.schedule,
                             {.chips = chips_,
                              .chunks = settings_.schedule == PipelineSchedule::zb_v ? 1 : settings_.chunks,
                              .micro_batches = settings_.micro_batches}));
    MONET_TRY(result_.sizes, stage_sizes(profile_, settings_, result_.order.chip_of.size()));
    add_stages();
    MONET_TRY(result_.times, pipeline_times(result_.order, result_.costs));
    finish();
    return std::move(result_);
  }

 private:
  std::int64_t size_of(const char* axis) const {
    const auto found = network_.mesh.find(axis);
    return found ? network_.mesh.axes[*found].size : 1;
  }

  // Blocks of a stage, embeddings and head included.
  template <class Function>
  void each_block(std::size_t stage, const Function& function) const {
    if (stage == 0) function(profile_.before);
    for (std::size_t b = first_[stage]; b < first_[stage + 1]; ++b) function(profile_.blocks[b]);
    if (stage + 1 == result_.sizes.size()) function(profile_.after);
  }

  void add_stages() {
    first_.assign(1, 0);
    for (std::size_t size : result_.sizes) first_.push_back(first_.back() + size);
    const Exchanged message = boundary();
    const auto& chip_of = result_.order.chip_of;
    for (std::size_t s = 0; s < result_.sizes.size(); ++s) {
      StageCost cost;
      each_block(s, [&](const BlockProfile& block) {
        cost.forward += block[StepPart::forward].seconds;
        cost.backward += block[StepPart::input_gradients].seconds;
        cost.weights += block[StepPart::weight_gradients].seconds;
        cost.kept_bytes += block.kept_bytes;
        cost.working_bytes = std::max(cost.working_bytes, block.working_bytes);
      });
      if (settings_.zero == 3) exchanges_.add_gathers(profile_, settings_, cost);
      cost.kept_for_weights_bytes = cost.kept_bytes;
      const bool sends = s + 1 < chip_of.size() && chip_of[s + 1] != chip_of[s];
      const bool sends_back = s > 0 && chip_of[s - 1] != chip_of[s];
      // Where nothing runs beside a message its sender waits until it has arrived.
      (settings_.overlap ? cost.send : cost.forward) += sends ? message.seconds : 0;
      (settings_.overlap ? cost.send_back : cost.backward) += sends_back ? message.seconds : 0;
      result_.costs.push_back(cost);
    }
  }

  Exchanged boundary() const {
    if (chips_ == 1) return {};
    const auto parts = static_cast<double>(std::max<std::int64_t>(1, settings_.scatter));
    const auto bytes = static_cast<double>(profile_.boundary_bytes);
    Exchanged message = exchanges_.of("pp", CollectiveKind::send, bytes / parts);
    if (parts > 1) message.add(exchanges_.of("tp", CollectiveKind::all_gather, bytes));
    return message;
  }

  void finish() {
    double end = 0, worked = 0, all_energy = 0, most_busy = -1;
    std::vector<double> reduced(chips_), after(chips_);
    for (std::uint32_t chip = 0; chip < chips_; ++chip) {
      const ChipUpdate update = update_of(chip);
      reduced[chip] = update.reduced_at;
      after[chip] = update.after_s;
      const double busy = result_.times.chips[chip].busy;
      worked += busy;
      all_energy += energy_of(chip) + update.energy_pj;
      if (busy > most_busy) {
        most_busy = busy;
        result_.slowest = chip;
        result_.dp = update.dp;
      }
    }
    // No chip may update before gradients of all are known: their norm is taken over all.
    const double ready = *std::ranges::max_element(reduced);
    for (std::uint32_t chip = 0; chip < chips_; ++chip) end = std::max(end, ready + after[chip]);
    result_.seconds = end;
    const double idle = static_cast<double>(chips_) * result_.times.end - worked;
    result_.bubble_fraction = worked > 0 ? std::max(0.0, idle) / worked : 0;
    result_.energy_pj = all_energy * static_cast<double>(network_.mesh.chips()) / static_cast<double>(chips_);
    add_axes();
    add_kinds();
  }

  ChipUpdate update_of(std::uint32_t chip) {
    ChipWork work{.end = result_.times.chips[chip].end};
    const auto& tasks = result_.order.tasks[chip];
    const PipelinePart last_part = result_.order.splits_backward ? PipelinePart::weights : PipelinePart::backward;
    std::vector<bool> seen(result_.sizes.size(), false);
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      if (tasks[k].part == PipelinePart::forward && tasks[k].micro_batch == 0 && work.first.empty())
        each_block(tasks[k].stage, [&](const BlockProfile& block) { work.first.push_back(&block); });
    }
    for (std::size_t k = tasks.size(); k-- > 0;) {
      const PipelineTask& task = tasks[k];
      if (task.part != last_part || seen[task.stage]) continue;
      seen[task.stage] = true;
      const StageCost& cost = result_.costs[task.stage];
      const double begin = result_.times.begins[chip][k];
      const double length = result_.order.splits_backward ? cost.weights : cost.backward + cost.weights;
      std::vector<const BlockProfile*> blocks;
      each_block(task.stage, [&](const BlockProfile& block) { blocks.push_back(&block); });
      double all = 0, so_far = 0;
      for (const BlockProfile* block : blocks) all += work_of(*block);
      for (std::size_t b = blocks.size(); b-- > 0;) {
        so_far += work_of(*blocks[b]);
        work.ready.push_back({begin + (all > 0 ? length * so_far / all : length), blocks[b]});
      }
    }
    const bool ends = result_.order.chip_of.front() == chip || result_.order.chip_of.back() == chip;
    const bool apart = result_.order.chip_of.front() != result_.order.chip_of.back();
    if (ends && apart && profile_.shared_bytes > 0)
      work.shared_s = exchanges_.of("pp", CollectiveKind::send, static_cast<double>(profile_.shared_bytes)).seconds;
    return exchanges_.update(std::move(work), settings_);
  }

  double energy_of(std::uint32_t chip) const {
    double sum = 0;
    for (std::size_t s = 0; s < result_.sizes.size(); ++s) {
      if (result_.order.chip_of[s] != chip) continue;
      each_block(s, [&](const BlockProfile& block) {
        for (StepPart part : {StepPart::forward, StepPart::input_gradients, StepPart::weight_gradients})
          sum += settings_.micro_batches * block[part].energy_pj;
      });
    }
    return sum;
  }

  void add_axes() {
    const Exchanged message = boundary();
    for (std::size_t s = 0; s < result_.sizes.size(); ++s) {
      if (result_.order.chip_of[s] != result_.slowest) continue;
      each_block(s, [&](const BlockProfile& block) {
        for (StepPart part : {StepPart::forward, StepPart::input_gradients, StepPart::weight_gradients}) {
          const PartCost& cost = block[part];
          result_.tp.collectives += settings_.micro_batches * cost.collectives;
          result_.tp.sent_bytes += settings_.micro_batches * cost.sent_bytes;
          result_.tp.communication_s += settings_.micro_batches * cost.communication_s;
          result_.tp.exposed_s += settings_.micro_batches * cost.exposed_s;
          result_.recomputed_s += settings_.micro_batches * cost.recomputed_s;
        }
      });
      const int ways = (s + 1 < result_.sizes.size() ? 1 : 0) + (s > 0 ? 1 : 0);
      result_.pp.collectives += std::int64_t{ways} * settings_.micro_batches;
      result_.pp.sent_bytes += ways * settings_.micro_batches * message.sent_bytes;
      result_.pp.communication_s += ways * settings_.micro_batches * message.seconds;
    }
    if (!settings_.overlap) result_.pp.exposed_s = result_.pp.communication_s;
  }

  void add_kinds() {
    for (std::uint32_t chip = 0; chip < chips_; ++chip) {
      ChipKind kind{.chip = chip, .count = 1};
      for (std::size_t s = 0; s < result_.sizes.size(); ++s) {
        if (result_.order.chip_of[s] != chip) continue;
        kind.stages.push_back(s);
        kind.blocks += result_.sizes[s];
        kind.forward_s += result_.costs[s].forward;
        kind.backward_s += result_.costs[s].backward + result_.costs[s].weights;
        each_block(s, [&](const BlockProfile& block) {
          kind.update_s += exchanges_.updated_s(block, settings_);
          kind.static_bytes += exchanges_.static_bytes(block, settings_);
        });
      }
      kind.busy_s = result_.times.chips[chip].busy;
      kind.most_in_flight = result_.times.chips[chip].most_in_flight;
      kind.static_bytes += profile_.input_bytes;
      kind.peak_bytes = kind.static_bytes + result_.times.chips[chip].peak_bytes;
      const auto same = std::ranges::find_if(result_.kinds, [&](const ChipKind& other) {
        return other.blocks == kind.blocks && other.peak_bytes == kind.peak_bytes &&
               other.static_bytes == kind.static_bytes && other.forward_s == kind.forward_s &&
               other.backward_s == kind.backward_s;
      });
      if (same != result_.kinds.end()) {
        ++same->count;
      } else {
        result_.kinds.push_back(std::move(kind));
      }
    }
  }

  const StepProfile& profile_;
  const PipelineSettings& settings_;
  const ChipNetwork& network_;
  DataParallel exchanges_;
  std::uint32_t chips_ = 1;
  std::vector<std::size_t> first_;  // by stage: its first block
  PipelinedStep result_;
};

}  // namespace

Expected<PipelinedStep> pipelined(const StepProfile& profile, const PipelineSettings& settings,
                                  const ChipNetwork& network) {
  return Composing(profile, settings, network).run();
}

std::int64_t PipelinedStep::peak_bytes() const {
  std::int64_t most = 0;
  for (const ChipKind& kind : kinds) most = std::max(most, kind.peak_bytes);
  return most;
}

Expected<std::vector<std::size_t>> stage_sizes(const StepProfile& profile, const PipelineSettings& settings,
                                               std::size_t stages) {
  const std::size_t blocks = profile.blocks.size();
  const auto wrong = [&](std::string message, std::string advice) {
    return Error{.message = std::move(message), .place = "--parallel", .advice = std::move(advice)};
  };
  if (!settings.sizes.empty()) {
    const std::size_t sum = std::accumulate(settings.sizes.begin(), settings.sizes.end(), std::size_t{0});
    if (settings.sizes.size() != stages || sum != blocks)
      return wrong(fmt::format("{} stages of {} blocks together are stated, and there are {} stages and {} blocks",
                               settings.sizes.size(), sum, stages, blocks),
                   "state the blocks of each stage, or leave out cut");
    return settings.sizes;
  }
  if (stages == 1) return std::vector<std::size_t>{blocks};
  if (settings.cut == StageCut::equal && blocks % stages != 0 && (blocks + 2) % stages == 0) {
    std::vector<std::size_t> sizes(stages, (blocks + 2) / stages);
    --sizes.front();
    --sizes.back();
    return sizes;
  }
  if (blocks < stages)
    return wrong(
        fmt::format("the network has {} blocks, found by their structure, and there are {} stages", blocks, stages),
        "choose a smaller pp, or fewer chunks");
  if (settings.cut == StageCut::equal && blocks % stages == 0) return std::vector<std::size_t>(stages, blocks / stages);
  std::vector<double> costs;
  for (const BlockProfile& block : profile.blocks) costs.push_back(work_of(block));
  if (settings.cut == StageCut::balanced) {
    costs.front() += work_of(profile.before);
    costs.back() += work_of(profile.after);
  }
  return balanced_stages(costs, stages);
}

}  // namespace monet
