#include "optimize/memory/stored.h"

#include "base/quantities.h"
#include "base/try.h"
#include "evaluate/account/complete_plan.h"
#include "evaluate/open/known_rows.h"
#include "evaluate/run/room.h"
#include "training/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace monet {

namespace {

constexpr auto output_path = static_cast<std::size_t>(Path::output);

class StoredSearch {
 public:
  StoredSearch(const MemoryPricesInput& input, const MemoryGoal& goal, MemoryId storage,
               const StoredSearchOptions& options)
      : in_(input),
        goal_(goal),
        storage_(storage),
        options_(options),
        step_(with_known_rows(input.step)),
        room_(goal.budget_bytes) {
    const RoutedMachine machine(in_.hardware, {.memory = storage});
    memory_ = machine[CoreId(0)].local[output_path];
    plan_ = in_.plan;
    plan_.home = in_.hardware[storage].name;
  }

  Expected<StoredAnswer> run() {
    MONET_RETURN_IF_ERROR(try_shapes());
    if (!best_.found) return StoredAnswer{.best = {}, .priced = priced_, .failure = failure_};
    if (options_.recompute) MONET_RETURN_IF_ERROR(try_recomputing());
    // With addresses some need more than others, and get by with less room.
    constexpr std::size_t most = 4;
    std::ranges::stable_sort(all_, {}, &Found::value);
    const std::int64_t budget = room_;
    StoredAnswer answer;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min(most, all_.size()) && all_[i].value < best; ++i) {
      room_ = budget;
      pricer_.reset();
      best_ = all_[i];
      MONET_TRY(std::optional<StoredPlan> plan, with_addresses());
      if (!plan) continue;
      const double value = goal_.objective(plan->price, plan->peak_bytes);
      if (value >= best || plan->price.cycles > goal_.deadline_cycles) continue;
      best = value;
      answer.best = std::move(plan);
    }
    answer.priced = priced_;
    if (!answer.best) answer.failure = failure_;
    return answer;
  }

 private:
  struct Choice {
    PlanOrder order = PlanOrder::graph;
    double share = 0;
    std::vector<std::size_t> again;  // candidates that are recomputed
    bool operator==(const Choice&) const = default;
  };
  struct Found {
    bool found = false;
    Choice choice;
    Price price;
    double value = std::numeric_limits<double>::infinity();
  };

  bool is_over() const { return priced_ >= options_.evaluations || (options_.stop && options_.stop()); }

  std::vector<BoundTensor> tensors_of(const Choice& choice) const {
    std::vector<BoundTensor> tensors;
    for (const std::size_t i : choice.again) {
      tensors.push_back({.tensor = in_.space.candidates()[i].tensor, .retention = Retention::recompute, .memory = {}});
    }
    std::ranges::sort(tensors, {}, &BoundTensor::tensor);
    return tensors;
  }

  Pricer& pricer() {
    if (!pricer_) {
      EvaluatorOptions how = in_.how;
      how.jobs = 1;
      how.progress = nullptr;
      how.home = {.memory = storage_, .room_bytes = room_};
      pricer_.emplace(step_, in_.hardware, in_.cache, how);
    }
    return *pricer_;
  }

  Expected<Priced> carry_out(const Choice& choice) {
    Plan plan = plan_;
    plan.order = choice.order;
    pricer().set_part_share(choice.share);
    return pricer().price(plan, tensors_of(choice));
  }

  // Whether it is better than the best so far.
  Expected<bool> attempt(const Choice& choice) {
    ++priced_;
    if (options_.progress) options_.progress(priced_);
    const auto priced = carry_out(choice);
    if (!priced) {
      if (priced.error().kind == ErrorKind::defect || (options_.stop && options_.stop())) return priced.error();
      failure_ = priced.error().text();
      return false;
    }
    if (priced->price.cycles > goal_.deadline_cycles) {
      failure_ = fmt::format("the fastest takes {} cycles, with a deadline of {}", cycles_text(priced->price.cycles),
                             cycles_text(goal_.deadline_cycles));
      return false;
    }
    const double value = goal_.objective(priced->price, room_);
    const Found found{.found = true, .choice = choice, .price = priced->price, .value = value};
    all_.push_back(found);
    if (best_.found && value >= best_.value) return false;
    best_ = found;
    return true;
  }

  Status try_shapes() {
    std::vector<PlanOrder> orders = {in_.plan.order};
    if (options_.reorder && in_.plan.order == PlanOrder::critical_path) {
      orders = {PlanOrder::frugal, PlanOrder::graph, PlanOrder::critical_path};
    }
    for (const PlanOrder order : orders) {
      for (const double share : {0.45, 0.8}) {
        if (best_.found && is_over()) return Done{};
        MONET_RETURN_IF_ERROR(attempt({.order = order, .share = share, .again = {}}));
      }
    }
    // From the best on, and where nothing fits from small parts on.
    const PlanOrder order = best_.found ? best_.choice.order : orders.front();
    for (const double share : {0.25, 0.6, 0.95, 0.12, 0.06}) {
      if (best_.found && is_over()) return Done{};
      MONET_RETURN_IF_ERROR(attempt({.order = order, .share = share, .again = {}}));
    }
    return Done{};
  }

  // The largest first: each that makes it better stays so.
  Status try_recomputing() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < in_.space.candidates().size(); ++i) {
      const auto& choices = in_.space.candidates()[i].choices;
      if (std::ranges::find(choices, Retention::recompute, &MemoryChoice::retention) != choices.end())
        order.push_back(i);
    }
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return in_.space.candidates()[i].bytes; });
    Choice all = best_.choice;
    all.again = order;
    std::ranges::sort(all.again);
    if (!order.empty() && !is_over()) MONET_RETURN_IF_ERROR(attempt(all));
    for (const std::size_t candidate : order) {
      if (is_over()) break;
      Choice next = best_.choice;
      const auto known = std::ranges::find(next.again, candidate);
      if (known == next.again.end()) {
        next.again.push_back(candidate);
        std::ranges::sort(next.again);
      } else {
        next.again.erase(known);
      }
      MONET_RETURN_IF_ERROR(attempt(next));
    }
    return Done{};
  }

  // In less and less room, until what is there has addresses within the budget.
  Expected<std::optional<StoredPlan>> with_addresses() {
    constexpr int most_tries = 10;
    const std::int64_t budget = room_;
    for (int i = 0; i < most_tries; ++i) {
      const auto priced = carry_out(best_.choice);
      if (!priced) {
        if (priced.error().kind == ErrorKind::defect) return priced.error();
        failure_ = priced.error().text();
        return std::optional<StoredPlan>();
      }
      MONET_TRY(const std::int64_t packed, pricer().packed_peak(*priced, memory_));
      if (packed <= budget) {
        MONET_RETURN_IF_ERROR(pricer().check(*priced));
        StoredPlan found{.plan = {}, .tensors = tensors_of(best_.choice), .price = priced->price, .peak_bytes = packed};
        Plan plan = plan_;
        plan.order = best_.choice.order;
        plan.room_bytes = room_;
        plan.tensors.clear();
        for (const BoundTensor& tensor : found.tensors) {
          plan.tensors.push_back(
              {.name = in_.step[tensor.tensor].name, .retention = tensor.retention, .memory = {}, .place = {}});
        }
        found.plan = complete_plan_of(priced->scheduled(in_.hardware), plan, in_.step);
        return std::optional(std::move(found));
      }
      room_ = smaller_room(room_, packed, budget);
      pricer_.reset();
    }
    failure_ = "what is in memory finds no addresses within the budget";
    return std::optional<StoredPlan>();
  }

  const MemoryPricesInput& in_;
  const MemoryGoal& goal_;
  const MemoryId storage_;
  const StoredSearchOptions& options_;
  const Graph step_;
  MemoryId memory_;  // that the cores work in
  std::int64_t room_;
  Plan plan_;
  std::optional<Pricer> pricer_;
  Found best_;
  std::vector<Found> all_;  // that keep the deadline
  std::size_t priced_ = 0;
  std::string failure_;
};

}  // namespace

std::vector<MemoryId> homes_in_storage(const Hardware& hardware) {
  std::vector<MemoryId> homes;
  for (const Memory& memory : hardware.memories) {
    if (memory.kind != MemoryKind::storage) continue;
    const auto choice = home_choice(hardware, memory.name);
    if (choice && RoutedMachine(hardware, *choice).check()) homes.push_back(choice->memory);
  }
  return homes;
}

std::int64_t least_in_memory(const Graph& step, const RoutedMachine& machine,
                             std::span<const StoredWidth> element_bits) {
  for (std::size_t c = 0; c < machine.hardware().cores.size(); ++c) {
    for (const MemoryId local : machine[CoreId(c)].local) {
      if (local.valid()) return 0;
    }
  }
  const auto bytes = [&](TensorId id) { return element_bits[id.index()].bytes(element_count(step[id].type.shape)); };
  std::int64_t most = 0;
  for (const Node& node : step.nodes()) {
    if (family_of(node.op) == OpFamily::view) continue;
    std::set<TensorId> together;
    for (const TensorId input : node.inputs) {
      if (!input.valid()) continue;
      for (const TensorId stored : training::stored_behind(step, input)) together.insert(stored);
    }
    for (const TensorId made : node.outputs) {
      if (made.valid() && !step[made].updates.valid()) together.insert(made);
    }
    std::int64_t sum = 0;
    for (const TensorId id : together) sum += bytes(id);
    most = std::max(most, sum);
  }
  return most;
}

Expected<StoredAnswer> search_stored(const MemoryPricesInput& input, const MemoryGoal& goal, MemoryId storage,
                                     const StoredSearchOptions& options) {
  return StoredSearch(input, goal, storage, options).run();
}

}  // namespace monet
