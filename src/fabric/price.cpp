#include "fabric/price.h"

#include "fabric/bound.h"
#include "fabric/phase.h"

#include <algorithm>

namespace monet {

namespace {

constexpr std::array<std::string_view, collective_kind_count> collective_names = {
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send"};

// Over all levels of the fabric; the price without bound and start.
class Pricer {
 public:
  Pricer(const Fabric& fabric, const Collective& collective)
      : groups_(fabric, collective.group), collective_(collective) {
    for (std::size_t l = 0; l < groups_.count; ++l) {
      const std::int64_t members = groups_.levels[l].members();
      chips_ *= static_cast<double>(members);
      if (members > 1) active_[active_count_++] = l;
    }
  }

  bool alone() const { return active_count_ == 0; }
  bool on_one_level() const { return active_count_ == 1; }

  // Start, energy and bound of a price that has the rest.
  CollectivePrice complete(CollectivePrice price, double bound) const {
    double start = 0;
    for (std::size_t i = 0; i < active_count_; ++i) {
      const FabricLevel& level = *group(i).level;
      start = std::max(start, level.start_s);
      price.energy_pj += price.bytes[active_[i]] * 8 * level.energy_pj_per_bit * chips_;
    }
    price.seconds += start;
    price.bound_seconds = bound;
    return price;
  }
  double bound() const { return bound_of(groups_, collective_); }

  std::optional<CollectivePrice> by(CollectiveAlgorithm algorithm) const {
    if (collective_.kind == CollectiveKind::send) {
      return algorithm == CollectiveAlgorithm::direct ? std::optional(send()) : std::nullopt;
    }
    std::optional<CollectivePrice> price;
    if (on_one_level()) {
      if (algorithm != CollectiveAlgorithm::hierarchical) price = level_by_level(algorithm);
    } else if (algorithm == CollectiveAlgorithm::ring) {
      price = one_ring();
    } else if (algorithm == CollectiveAlgorithm::direct) {
      price = to_each();
    } else if (algorithm == CollectiveAlgorithm::hierarchical) {
      price = level_by_level(std::nullopt);
    } else {
      price = level_by_level(algorithm);
    }
    if (price) price->algorithm = algorithm;
    return price;
  }

  std::optional<CollectivePrice> best() const {
    std::optional<CollectivePrice> best;
    for (std::size_t i = 0; i < collective_algorithm_count; ++i) {
      const auto algorithm = static_cast<CollectiveAlgorithm>(i);
      // On several levels the others are what `hierarchical` chooses from.
      const bool flat = algorithm == CollectiveAlgorithm::ring || algorithm == CollectiveAlgorithm::direct ||
                        algorithm == CollectiveAlgorithm::hierarchical;
      if (!on_one_level() && !flat) continue;
      auto one = by(algorithm);
      if (one && (!best || one->seconds < best->seconds)) best = one;
    }
    return best;
  }

 private:
  const LevelGroup& group(std::size_t i) const { return groups_.levels[active_[i]]; }

  static bool is_ported(const LevelGroup& group) {
    return group.level->kind == FabricKind::switched || group.level->kind == FabricKind::full;
  }

  bool add(CollectivePrice& price, std::size_t i, CollectiveKind kind, double bytes,
           std::optional<CollectiveAlgorithm> algorithm) const {
    Phase one;
    if (algorithm) {
      const auto stated = phase(group(i), kind, bytes, *algorithm);
      if (!stated) return false;
      one = *stated;
    } else {
      const BestPhase found = best_phase(group(i), kind, bytes);
      if (!found.found) return false;
      one = found.phase;
    }
    price.seconds += one.seconds;
    price.level_seconds[active_[i]] += one.seconds;
    price.bytes[active_[i]] += one.bytes;
    return true;
  }

  // Inside, then between, then inside again. None stated: the fastest on each level.
  std::optional<CollectivePrice> level_by_level(std::optional<CollectiveAlgorithm> algorithm) const {
    CollectivePrice price;
    const CollectiveKind kind = collective_.kind;
    double bytes = collective_.bytes;
    for (std::size_t i = 0; i < active_count_; ++i) {
      const bool inside = i + 1 < active_count_;
      if (kind == CollectiveKind::all_reduce && inside) {
        if (!add(price, i, CollectiveKind::reduce_scatter, bytes, algorithm)) return std::nullopt;
        if (!add(price, i, CollectiveKind::all_gather, bytes, algorithm)) return std::nullopt;
      } else if (!add(price, i, kind, bytes, algorithm)) {
        return std::nullopt;
      }
      const bool shards = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
                          kind == CollectiveKind::all_gather;
      if (shards) bytes /= static_cast<double>(group(i).members());
    }
    return price;
  }

  bool all_ported() const {
    for (std::size_t i = 0; i < active_count_; ++i)
      if (!is_ported(group(i))) return false;
    return true;
  }

  // Passes of a collective in which every chip sends each of n - 1 others one n-th; 0: it is none.
  double passes() const {
    switch (collective_.kind) {
      case CollectiveKind::all_reduce: return 2;
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::all_gather: return 1;
      default: return 0;
    }
  }

  // One ring through all chips, neighbours inside first: the slowest link sets the pace.
  std::optional<CollectivePrice> one_ring() const {
    if (passes() == 0 || !all_ported()) return std::nullopt;
    CollectivePrice price;
    const double rounds = passes() * (chips_ - 1);
    const double message = collective_.bytes / chips_;
    double step = 0;
    double below = 1;  // members of the group under a unit of the level below
    for (std::size_t i = 0; i < active_count_; ++i) {
      const LevelGroup& here = group(i);
      step = std::max(step, here.level->latency_s + message / link_width(here, collective_.bytes));
      const double under = below * static_cast<double>(here.members());
      const bool outermost = i + 1 == active_count_;
      const double links = chips_ / below - (outermost ? 0 : chips_ / under);
      price.bytes[active_[i]] = rounds * message * links / chips_;
      below = under;
    }
    price.seconds = rounds * step;
    for (std::size_t i = 0; i < active_count_; ++i) price.level_seconds[active_[i]] = price.seconds;
    return price;
  }

  // Every chip to every other one, over the lowest level that they share.
  std::optional<CollectivePrice> to_each() const {
    const double times = collective_.kind == CollectiveKind::all_to_all ? 1 : passes();
    if (times == 0 || !all_ported()) return std::nullopt;
    CollectivePrice price;
    const double message = collective_.bytes / chips_;
    double below = 1;
    for (std::size_t i = 0; i < active_count_; ++i) {
      const LevelGroup& here = group(i);
      const double under = below * static_cast<double>(here.members());
      const double through_a_port = here.level->kind == FabricKind::full ? below : under - below;
      const double one = here.level->latency_s + message / link_width(here, collective_.bytes);
      price.level_seconds[active_[i]] = times * through_a_port * one;
      price.bytes[active_[i]] = times * (under - below) * message;
      price.seconds = std::max(price.seconds, price.level_seconds[active_[i]]);
      below = under;
    }
    return price;
  }

  CollectivePrice send() const {
    CollectivePrice price;
    price.algorithm = CollectiveAlgorithm::direct;
    double below = 1;
    for (std::size_t i = 0; i < active_count_; ++i) {
      const double under = below * static_cast<double>(group(i).members());
      const Phase one = neighbour_message(group(i), collective_.bytes);
      price.level_seconds[active_[i]] = one.seconds;
      price.bytes[active_[i]] = one.bytes * (chips_ / below - chips_ / under) / chips_;
      price.seconds = std::max(price.seconds, one.seconds);
      below = under;
    }
    return price;
  }

  LevelGroups groups_;
  const Collective& collective_;
  std::array<std::size_t, max_fabric_levels> active_{};  // levels on which the group has more than one unit
  std::size_t active_count_ = 0;
  double chips_ = 1;
};

}  // namespace

std::string_view name_of(CollectiveKind kind) { return collective_names[static_cast<std::size_t>(kind)]; }

std::optional<CollectiveKind> collective_kind_named(std::string_view name) {
  const auto* const found = std::ranges::find(collective_names, name);
  if (found == collective_names.end()) return std::nullopt;
  return static_cast<CollectiveKind>(found - collective_names.begin());
}

CollectivePrice price(const Fabric& fabric, const Collective& collective) {
  const Pricer pricer(fabric, collective);
  if (pricer.alone()) return {};
  return pricer.complete(*pricer.best(), pricer.bound());
}

std::optional<CollectivePrice> price(const Fabric& fabric, const Collective& collective,
                                     CollectiveAlgorithm algorithm) {
  const Pricer pricer(fabric, collective);
  if (pricer.alone()) return CollectivePrice{.algorithm = algorithm};
  const auto found = pricer.by(algorithm);
  if (!found) return std::nullopt;
  return pricer.complete(*found, pricer.bound());
}

std::vector<CollectiveAlgorithm> algorithms_of(const Fabric& fabric, const Collective& collective) {
  const Pricer pricer(fabric, collective);
  std::vector<CollectiveAlgorithm> all;
  for (std::size_t i = 0; i < collective_algorithm_count && !pricer.alone(); ++i)
    if (pricer.by(static_cast<CollectiveAlgorithm>(i))) all.push_back(static_cast<CollectiveAlgorithm>(i));
  return all;
}

}  // namespace monet
