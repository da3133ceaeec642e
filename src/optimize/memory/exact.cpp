#include "optimize/memory/exact.h"

#include "base/parallel.h"

#include <atomic>
#include <mutex>

namespace monet {

Genome genome_at(std::span<const std::uint16_t> choices, std::size_t index) {
  Genome genome;
  for (std::uint16_t count : choices) {
    genome.push_back(static_cast<std::uint16_t>(index % count));
    index /= count;
  }
  return genome;
}

double plans_in(std::span<const std::uint16_t> choices) {
  double count = 1;
  for (std::uint16_t each : choices) count *= each;
  return count;
}

Expected<std::vector<ExactPoint>> price_all(MemoryPrices& prices, const ExactOptions& options) {
  const std::vector<std::uint16_t> choices = prices.input().space.choices();
  const auto count = static_cast<std::size_t>(plans_in(choices));
  constexpr std::size_t check_every = 100;
  constexpr std::size_t piece = 64;
  std::vector<ExactPoint> points(count);
  std::atomic<std::size_t> next = 0, done = 0;
  std::atomic<bool> over = false;
  std::optional<Error> defect;
  std::mutex mutex;
  for_each_index(prices.workers(), prices.workers(), [&](std::size_t worker) {
    for (std::size_t first = next.fetch_add(piece); first < count && !over; first = next.fetch_add(piece)) {
      for (std::size_t i = first; i < std::min(count, first + piece); ++i) {
        const Genome genome = genome_at(choices, i);
        const auto price = prices.once(genome, worker, i % check_every == 0);
        if (!price) {
          const std::scoped_lock lock(mutex);
          if (!defect) defect = price.error();
          over = true;
          break;
        }
        if (!price->failure.empty()) continue;
        points[i] = {.cycles = price->price.cycles,
                     .energy_pj = price->price.energy_pj,
                     .peak_bytes = price->peak_bytes,
                     .kept_bytes = prices.input().space.kept_bytes(genome)};
      }
      done += piece;
      const std::scoped_lock lock(mutex);
      if (options.progress) options.progress(std::min<std::size_t>(done, count), count);
      if (options.stop && options.stop()) over = true;
    }
  });
  if (defect) return *defect;
  return points;
}

}  // namespace monet
