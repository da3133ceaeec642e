#include "explore/price/pricer.h"

#include "base/random.h"
#include "base/try.h"
#include "evaluate/open/family.h"
#include "evaluate/open/numbers.h"
#include "evaluate/open/runnable.h"
#include "evaluate/plan/hash.h"
#include "explore/price/constraints.h"
#include "explore/price/policy.h"
#include "hardware/totals.h"
#include "optimize/pricing/pricer.h"

#include <monet/version.h>

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace monet::explore {

namespace {

// That are kept: some hundred megabytes.
constexpr std::size_t most_mappings = 300000;

// Every so many designs the schedules are looked at by the independent checker. Which ones follows from their numbers
// alone.
constexpr std::uint64_t checked_share = 100;

bool is_checked(Design design) { return SeededRandom(design).next() % checked_share == 0; }

std::string digest(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Expected<HardwareFamily> open_family(const Space& space) {
  if (space.hardware_text.empty()) return HardwareFamily::open(space.hardware);
  return HardwareFamily::of_text(space.hardware_text, space.path);
}

double macs_of(const Schedule& schedule) {
  double macs = 0;
  for (const ScheduledTile& tile : schedule.tiles) macs += schedule.costs[tile.cost].macs;
  return macs;
}

// Bytes of all memories in which things are at home; fails where one of them is too small.
Expected<std::int64_t> home_bytes(Pricer& pricer, const Priced& priced) {
  const Hardware& hardware = pricer.hardware();
  const RoutedMachine& machine = priced.variant->evaluator.machine();
  std::int64_t sum = 0;
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    const MemoryId memory(m);
    if (!machine.is_backing(memory)) continue;
    MONET_TRY(const std::int64_t peak, pricer.packed_peak(priced, memory));
    if (peak > machine.capacity_bytes(memory)) {
      return Error{.kind = ErrorKind::infeasible,
                   .message = fmt::format("{} is too small: {} of {} bytes", hardware[memory].name, peak,
                                          machine.capacity_bytes(memory))};
    }
    if (machine.is_home(memory)) sum += peak;
  }
  return sum;
}

Expected<WorkloadOutcome> run_workload(const OpenedStep& opened_step, const StepRequest& options, const Policy& policy,
                                       const Hardware& hardware, MappingCache& cache,
                                       const std::shared_ptr<OperatorClassCache>& known, bool check) {
  MONET_TRY(EvaluatorOptions how, evaluator_options(options));
  how.jobs = 1;
  how.known = known;
  MONET_TRY(const Plan plan, plan_by(policy, opened_step.graph, hardware, cache, how));
  Pricer pricer(opened_step.graph, hardware, cache, how);
  MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(plan, opened_step.graph, hardware));
  MONET_TRY(const Priced priced, pricer.price(plan, tensors));
  WorkloadOutcome outcome;
  MONET_TRY(outcome.peak_bytes, home_bytes(pricer, priced));
  outcome.latency_cycles = priced.price.cycles;
  outcome.latency_s = priced.price.cycles / hardware.clock_hz;
  outcome.energy_pj = priced.price.energy_pj;
  outcome.macs = macs_of(priced.evaluated.schedule);
  outcome.stacks = static_cast<std::int64_t>(priced.evaluated.assignment.stacks.size());
  outcome.tiles = static_cast<std::int64_t>(priced.evaluated.schedule.tiles.size());
  for (const BoundTensor& tensor : tensors) {
    outcome.recomputed += tensor.retention == Retention::recompute ? 1 : 0;
    outcome.paged += tensor.retention == Retention::page ? 1 : 0;
  }
  if (check) MONET_RETURN_IF_ERROR(pricer.check(priced));
  return outcome;
}

}  // namespace

// A workload in the numbers that some of the machines take, and as they can run it.
struct DesignPricer::Step {
  OpenedStep opened_step;
  StepRequest options;
  NumberChoice numbers;
};

class DesignPricer::Kept {
 public:
  explicit Kept(HardwareFamily machines) : family(std::move(machines)) {}

  using StepKey = std::pair<std::size_t, std::string>;  // workload; recipe, or what a machine can run
  std::mutex steps_mutex;
  std::map<StepKey, Step> opened;
  std::map<StepKey, std::shared_ptr<const Expected<Step>>> fitted;

  HardwareFamily family;
  MappingCache mappings{most_mappings};

  // One for each thread that is at work.
  std::shared_ptr<OperatorClassCache> take_knowledge() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return new_operator_class_cache();
    std::shared_ptr<OperatorClassCache> classes = std::move(idle.back());
    idle.pop_back();
    return classes;
  }
  void give_back(std::shared_ptr<OperatorClassCache> classes) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(classes));
  }

 private:
  std::mutex mutex;
  std::vector<std::shared_ptr<OperatorClassCache>> idle;
};

DesignPricer::DesignPricer(Space space) : space_(std::move(space)) {}
DesignPricer::~DesignPricer() = default;

Expected<std::unique_ptr<DesignPricer>> DesignPricer::open(const Space& space) {
  std::unique_ptr<DesignPricer> pricer(new DesignPricer(space));
  MONET_TRY(HardwareFamily family, open_family(space));
  // All that an outcome depends on.
  std::string everything = fmt::format("{}\n{}\n", version, space.text);
  std::optional<Hardware> first;  // machine that there is
  for (const Design design : {Design{0}, space.size() / 2, space.size() - 1}) {
    const auto hardware = family.with({.parameters = space.parameters(design)});
    if (hardware && !first) first = *hardware;
    if (hardware) {
      const MachineTotals totals = totals_of(*hardware);
      MONET_RETURN_IF_ERROR(check_area(space, totals));
      MONET_RETURN_IF_ERROR(broken_constraint(space, *hardware, totals));
    }
    everything += (hardware ? hash_of(*hardware) : "no machine") + "\n";
  }
  pricer->kept_ = std::make_unique<Kept>(std::move(family));
  for (std::size_t w = 0; w < pricer->space_.workloads.size(); ++w) {
    Workload& workload = pricer->space_.workloads[w];
    workload.options.off_chip = space.off_chip;
    workload.options.zigzag = space.zigzag;
    MONET_TRY(Step step, pricer->opened_for(w, first.value_or(Hardware{})));
    pricer->graph_hashes_.push_back(hash_of(step.opened_step.graph));
    everything += pricer->graph_hashes_.back() + " " + step.numbers.recipe + "\n";
    pricer->opened_steps_.push_back(std::move(step.opened_step));
  }
  pricer->fingerprint_ = digest(everything);
  return pricer;
}

Expected<DesignPricer::Step> DesignPricer::opened_for(std::size_t workload, const Hardware& hardware) {
  const Workload& asked = space_.workloads[workload];
  MONET_TRY(NumberChoice numbers, choose_numbers(asked.network, hardware, asked.options.train, asked.options.zigzag));
  const auto known = kept_->opened.find({workload, numbers.precision()});
  if (known != kept_->opened.end()) return known->second;
  Step step{.opened_step = {}, .options = asked.options, .numbers = std::move(numbers)};
  step.options.train.precision = step.numbers.precision();
  MONET_TRY(step.opened_step, open_step(asked.network, step.options, step.options.inference));
  return kept_->opened.emplace(Kept::StepKey{workload, step.numbers.precision()}, std::move(step)).first->second;
}

std::shared_ptr<const Expected<DesignPricer::Step>> DesignPricer::step_on(std::size_t workload,
                                                                          const Hardware& hardware) {
  const std::lock_guard lock(kept_->steps_mutex);
  auto& known = kept_->fitted[{
      workload, fmt::format("{}\n{}\n{}", hardware.recipe, abilities_of(hardware), kernel_core(hardware).valid())}];
  if (known) return known;
  const auto fitted = [&]() -> Expected<Step> {
    MONET_TRY(Step step, opened_for(workload, hardware));
    MONET_TRY(step.opened_step, fitted_to(std::move(step.opened_step), hardware, step.options));
    return step;
  };
  known = std::make_shared<const Expected<Step>>(fitted());
  return known;
}

Outcome DesignPricer::price(Design design) { return price(design, is_checked(design)); }

Outcome DesignPricer::price(Design design, bool check) {
  Outcome outcome{.design = design};
  const auto hardware = kept_->family.with({.parameters = space_.parameters(design)});
  if (!hardware) {
    outcome.failure = hardware.error().text();
    return outcome;
  }
  const MachineTotals totals = totals_of(*hardware);
  outcome.hardware_hash = hash_of(*hardware);
  outcome.area_mm2 = totals.area_mm2;
  outcome.static_w = totals.static_w;
  outcome.macs_per_cycle = totals.macs_per_cycle;
  outcome.on_chip_bits = totals.on_chip_bits;
  if (const auto known = check_area(space_, totals); !known) {
    outcome.failure = known.error().text();
    return outcome;
  }
  const auto broken = broken_constraint(space_, *hardware, totals);
  if (!broken || *broken) {
    outcome.excluded = broken.has_value();
    outcome.failure = broken ? "constraint " + **broken : broken.error().text();
    return outcome;
  }
  const std::shared_ptr<OperatorClassCache> known = kept_->take_knowledge();
  for (std::size_t w = 0; w < opened_steps_.size(); ++w) {
    const auto step = step_on(w, *hardware);
    auto ran = *step ? run_workload((**step).opened_step, (**step).options, space_.policy, *hardware, kept_->mappings,
                                    known, check)
                     : Expected<WorkloadOutcome>(step->error());
    if (ran) {
      ran->recipe = (**step).numbers.recipe;
      const double possible = ran->latency_cycles * totals.macs_per_cycle;
      ran->utilization = possible > 0 ? ran->macs / possible : 0;
      outcome.workloads.push_back(*std::move(ran));
    } else {
      outcome.workloads.push_back({.failure = ran.error().text()});
    }
  }
  kept_->give_back(known);
  return outcome;
}

std::vector<std::string> DesignPricer::notes() const {
  std::vector<std::string> notes;
  std::set<std::string> seen;
  for (const OpenedStep& opened_step : opened_steps_) {
    for (const std::vector<std::string>* told : {&opened_step.warnings, &opened_step.notes}) {
      for (const std::string& note : *told) {
        if (seen.insert(note).second) notes.push_back(note);
      }
    }
  }
  return notes;
}

}  // namespace monet::explore
