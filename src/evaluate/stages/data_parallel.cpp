#include "evaluate/stages/data_parallel.h"

#include "evaluate/stages/pipelined_step.h"

#include <algorithm>

namespace monet {

namespace {

// Launches of so long beside a collective that takes a share of the chip; the longer of the two ends it.
double beside(double launches, const Exchanged& exchanged) {
  const double done = (1 - exchanged.share) * exchanged.seconds;
  return launches >= done ? launches + exchanged.share * exchanged.seconds : exchanged.seconds;
}

}  // namespace

void Exchanged::add(const Exchanged& other) {
  seconds += other.seconds;
  sent_bytes += other.sent_bytes;
  energy_pj += other.energy_pj;
  share = std::max(share, other.share);
}

Exchanged DataParallel::of(const char* axis, CollectiveKind kind, double bytes) const {
  const auto found = network_.mesh.find(axis);
  if (!found || network_.mesh.axes[*found].size < 2 || bytes <= 0) return {};
  const auto [known, fresh] = known_.try_emplace({*found, kind, bytes});
  if (!fresh) return known->second;
  const CollectivePrice priced =
      price(network_.fabric, {.kind = kind, .bytes = bytes, .group = network_.groups[*found]});
  Exchanged result{.seconds = priced.seconds,
                   .energy_pj = priced.energy_pj / static_cast<double>(network_.mesh.axes[*found].size)};
  for (std::size_t level = 0; level < network_.fabric.levels.size(); ++level) {
    result.sent_bytes += priced.bytes[level];
    if (priced.level_seconds[level] > 0)
      result.share = std::max(result.share, network_.fabric.levels[level].chip_share);
  }
  known->second = result;
  return result;
}

double DataParallel::dp() const {
  const auto found = network_.mesh.find("dp");
  return found ? static_cast<double>(network_.mesh.axes[*found].size) : 1;
}

double DataParallel::gradient_bytes(const BlockProfile& block, const PipelineSettings& settings) const {
  if (settings.gradient_bytes > 0) return settings.gradient_bytes * static_cast<double>(block.parameters);
  return static_cast<double>(block.gradient_bytes);
}

double DataParallel::updated_s(const BlockProfile& block, const PipelineSettings& settings) const {
  return block[StepPart::update].seconds / (settings.zero >= 1 ? dp() : 1);
}

std::int64_t DataParallel::static_bytes(const BlockProfile& block, const PipelineSettings& settings) const {
  const auto share = static_cast<std::int64_t>(dp());
  const auto piece = [&](std::int64_t bytes, int from) {
    return settings.zero >= from ? (bytes + share - 1) / share : bytes;
  };
  return piece(block.weight_bytes, 3) + piece(block.gradient_bytes, 2) + piece(block.state_bytes, 1);
}

ChipUpdate DataParallel::update(ChipWork work, const PipelineSettings& settings) const {
  ChipUpdate result;
  const bool scatters = settings.zero >= 1;
  const CollectiveKind kind = scatters ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const auto count = [&](const Exchanged& exchanged) {
    if (exchanged.seconds <= 0) return;
    ++result.dp.collectives;
    result.dp.sent_bytes += exchanged.sent_bytes;
    result.dp.communication_s += exchanged.seconds;
    result.energy_pj += exchanged.energy_pj;
  };
  std::ranges::stable_sort(work.ready, {}, &ChipWork::Ready::at);
  double reduced = work.end;
  if (settings.zero == 3) {
    // Done with each micro-batch.
  } else if (settings.overlap) {
    double free = 0, hidden = 0;
    for (const auto& [at, block] : work.ready) {
      const Exchanged sum = of("dp", kind, gradient_bytes(*block, settings));
      count(sum);
      free = std::max(free, at) + sum.seconds;
      if (free <= work.end) hidden += sum.share * sum.seconds;
    }
    reduced = std::max(work.end + hidden, free);
  } else {
    double bytes = 0;
    for (const auto& [at, block] : work.ready) bytes += gradient_bytes(*block, settings);
    const Exchanged sum = of("dp", kind, bytes);
    count(sum);
    reduced += sum.seconds;
  }
  reduced += work.shared_s;
  result.dp.exposed_s = reduced - work.shared_s - work.end;
  result.reduced_at = reduced;
  for (const auto& [at, block] : work.ready) {
    result.after_s += updated_s(*block, settings);
    result.energy_pj += (*block)[StepPart::update].energy_pj / (scatters ? dp() : 1);
  }
  if (settings.zero != 1 && settings.zero != 2) return result;
  double exposed = 0;
  if (settings.overlap) {
    // Weights of later blocks arrive while the first micro-batch is in earlier ones.
    double gathered = 0, computed = 0;
    for (const BlockProfile* block : work.first) {
      const Exchanged weights = of("dp", CollectiveKind::all_gather, static_cast<double>(block->weight_bytes));
      count(weights);
      gathered += weights.seconds;
      exposed = std::max(exposed, gathered - computed);
      computed += (*block)[StepPart::forward].seconds;
    }
  } else {
    double bytes = 0;
    for (const auto& [at, block] : work.ready) bytes += static_cast<double>(block->weight_bytes);
    const Exchanged weights = of("dp", CollectiveKind::all_gather, bytes);
    count(weights);
    exposed = weights.seconds;
  }
  result.after_s += exposed;
  result.dp.exposed_s += exposed;
  return result;
}

void DataParallel::add_gathers(const StepProfile& profile, const PipelineSettings& settings, StageCost& cost) const {
  std::vector<const BlockProfile*> units = {&profile.before};
  for (const BlockProfile& block : profile.blocks) units.push_back(&block);
  units.push_back(&profile.after);
  const auto gather = [&](std::size_t unit) {
    return of("dp", CollectiveKind::all_gather, static_cast<double>(units[unit]->weight_bytes));
  };
  const auto scatter = [&](std::size_t unit) {
    return of("dp", CollectiveKind::reduce_scatter, gradient_bytes(*units[unit], settings));
  };
  const auto backward = [&](std::size_t unit) {
    return (*units[unit])[StepPart::input_gradients].seconds + (*units[unit])[StepPart::weight_gradients].seconds;
  };
  const std::size_t last = units.size() - 1;
  cost.forward = gather(0).seconds;
  for (std::size_t u = 0; u <= last; ++u) {
    const double launches = (*units[u])[StepPart::forward].seconds;
    const Exchanged next = u < last ? gather(u + 1) : Exchanged{};
    cost.forward += settings.overlap ? beside(launches, next) : launches + next.seconds;
  }
  cost.backward = cost.weights = 0;
  for (std::size_t u = last + 1; u-- > 0;) {
    Exchanged meanwhile = u > 0 ? gather(u - 1) : Exchanged{};
    if (u < last) meanwhile.add(scatter(u + 1));
    cost.backward += settings.overlap ? beside(backward(u), meanwhile) : backward(u) + meanwhile.seconds;
  }
  cost.backward += scatter(0).seconds;
}

}  // namespace monet
