#include "base/parallel.h"
#include "base/stop.h"
#include "base/try.h"
#include "explore/executor/executor.h"
#include "explore/methods/methods.h"
#include "explore/price/pricer.h"
#include "explore/space/open.h"
#include "explore/store/store.h"
#include "explore/summary.h"

#include <monet/explore.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace monet {

namespace {

using explore::Design;
using explore::DesignPricer;
using explore::Executor;
using explore::Outcome;
using explore::Space;
using explore::Store;
using Clock = std::chrono::steady_clock;

// Answers from the store, else from the executor, which go into the store.
class StoredEvaluator {
 public:
  StoredEvaluator(const ExploreOptions& options, Store& store, Executor& executor, std::uint64_t expected)
      : options_(options),
        store_(store),
        executor_(executor),
        expected_(expected),
        is_over_(stop_after(options.time_limit_s, options.stop)) {}

  // Less than all when time is up.
  Expected<std::vector<Outcome>> ask(std::span<const Design> designs) {
    std::unordered_map<Design, Outcome> known;
    while (true) {
      std::vector<Design> missing;
      for (const Design design : designs) {
        if (known.contains(design)) continue;
        MONET_TRY(std::optional<Outcome> stored, store_.find(design));
        if (stored) {
          known.emplace(design, *std::move(stored));
          tell_progress();
        } else {
          missing.push_back(design);
        }
      }
      if (missing.empty() || is_over_()) break;
      MONET_TRY(const std::vector<Design> ours,
                store_.claim(missing, std::max<std::size_t>(1, executor_.batch_hint() / 16)));
      if (ours.empty()) {  // another process has all of them
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        continue;
      }
      const auto take = [&](Outcome&& outcome) -> Status {
        MONET_RETURN_IF_ERROR(store_.put(outcome));
        fresh_.emplace(outcome.design, std::hash<std::string>{}(to_line(outcome)));
        known.emplace(outcome.design, std::move(outcome));
        tell_progress();
        return Done{};
      };
      MONET_RETURN_IF_ERROR(executor_.run(ours, take, is_over_));
      MONET_RETURN_IF_ERROR(store_.flush());
    }
    std::vector<Outcome> outcomes;
    for (const Design design : designs) {
      const auto found = known.find(design);
      if (found != known.end()) outcomes.push_back(found->second);
    }
    return outcomes;
  }

  std::uint64_t fresh() const { return fresh_.size(); }
  // This is what the executor gave for it; not what an earlier process did, or what has become of the file.
  bool gave(const Outcome& outcome) const {
    const auto found = fresh_.find(outcome.design);
    return found != fresh_.end() && found->second == std::hash<std::string>{}(to_line(outcome));
  }

 private:
  void tell_progress() {
    ++answered_;
    if (options_.progress) options_.progress(executor_.who(), answered_, expected_);
  }

  const ExploreOptions& options_;
  Store& store_;
  Executor& executor_;
  std::uint64_t expected_;  // 0: not known
  std::function<bool()> is_over_;
  std::unordered_map<Design, std::size_t> fresh_;  // evaluated by this process: a hash of what it gave
  std::size_t answered_ = 0;
};

// What is returned is looked at again: the same numbers, and a schedule that keeps all rules.
// The user may want no more of it.
Status verify_front(DesignPricer& pricer, Store& store, const StoredEvaluator& asking, const ExploreOptions& options,
                    Exploration& exploration) {
  const std::vector<DesignResult>& front = exploration.front;
  std::vector<std::optional<Outcome>> found(front.size());
  for_each_index(front.size(), static_cast<std::size_t>(options.jobs), [&](std::size_t i) {
    if (!options.stop || !options.stop()) found[i] = pricer.price(front[i].design, true);
  });
  std::vector<Outcome> again;
  for (std::optional<Outcome>& outcome : found) {
    if (outcome) again.push_back(*std::move(outcome));
  }
  if (again.size() < front.size()) {
    exploration.notes.push_back(
        fmt::format("{} of {} designs of the front were checked before the end", again.size(), front.size()));
  }
  for (const Outcome& outcome : again) {
    MONET_TRY(const std::optional<Outcome> stored, store.find(outcome.design));
    if (stored && *stored == outcome) continue;
    if (!stored || !asking.gave(*stored))
      return Error{.message = fmt::format("the store is damaged: design {} has other results there than its evaluation "
                                          "gives",
                                          outcome.design),
                   .place = options.store,
                   .advice = "begin another one with --store: nothing says which of its numbers are right"};
    return Error{.kind = ErrorKind::defect,
                 .message = fmt::format("design {} evaluated again gives another result{}", outcome.design,
                                        outcome.ran() ? "" : ": it cannot run"),
                 .place = "checker",
                 .advice = "please report it"};
  }
  return Done{};
}

Expected<Store> store_for(const ExploreOptions& options, const DesignPricer& pricer) {
  if (options.store.empty()) return Store::scratch(pricer);
  return Store::open_to_fill(options.store, pricer, !options.resume);
}

Expected<std::unique_ptr<Executor>> executor_for(const ExploreOptions& options, DesignPricer& pricer) {
  if (options.cluster.empty()) return explore::thread_executor(pricer, static_cast<std::size_t>(options.jobs));
  return explore::cluster_executor(pricer,
                                   {.address = options.cluster, .python = options.python, .stop = options.stop});
}

// Fills the store, and says what is in it.
Expected<Exploration> explore_into(Store& store, Space& space, DesignPricer& pricer, Executor& executor,
                                   const ExploreOptions& options) {
  const auto start = Clock::now();
  explore::MethodOptions method{.method = options.method,
                                .samples = options.samples,
                                .population = options.population,
                                .generations = options.generations,
                                .seed = options.seed,
                                .batch_hint = [&executor] { return executor.batch_hint(); }};
  const std::uint64_t expected = method.method == "all" ? space.size() : method.samples;
  StoredEvaluator asking(options, store, executor, expected);
  MONET_TRY(const explore::Searched searched,
            explore::search(space, method, [&](std::span<const Design> designs) { return asking.ask(designs); }));
  MONET_RETURN_IF_ERROR(store.flush());
  Exploration result;
  result.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  result.method = options.method;
  result.store = options.store;
  result.fresh = asking.fresh();
  result.designs_per_s = result.wall_s > 0 ? static_cast<double>(result.fresh) / result.wall_s : 0;
  result.complete = searched.complete;
  result.notes = pricer.notes();
  MONET_RETURN_IF_ERROR(analyse(store, space.objectives, options.tolerance, result));
  MONET_RETURN_IF_ERROR(verify_front(pricer, store, asking, options, result));
  return result;
}

}  // namespace

Expected<Exploration> explore_space(const ExploreOptions& options) {
  MONET_TRY(Space space, explore::open_space(options.space, explore::subject_of(options.network, options.batch)));
  MONET_TRY(space.objectives, objectives_named(space, options.objectives, options.functions));
  MONET_TRY(const std::unique_ptr<DesignPricer> pricer, DesignPricer::open(space));
  MONET_TRY(const std::unique_ptr<Executor> executor, executor_for(options, *pricer));
  MONET_TRY(Store store, store_for(options, *pricer));
  auto result = explore_into(store, space, *pricer, *executor, options);
  // A store that is gone is the reason of whatever else went wrong, and what was found must not go with it.
  MONET_RETURN_IF_ERROR(store.check_kept());
  return result;
}

struct DesignWorker::Impl {
  std::unique_ptr<DesignPricer> pricer;
};

DesignWorker::DesignWorker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DesignWorker::DesignWorker(DesignWorker&&) noexcept = default;
DesignWorker& DesignWorker::operator=(DesignWorker&&) noexcept = default;
DesignWorker::~DesignWorker() = default;

Expected<DesignWorker> DesignWorker::open(const std::string& text, const std::string& path) {
  MONET_TRY(const Space space, Space::read_text(text, path));
  MONET_TRY(std::unique_ptr<DesignPricer> pricer, DesignPricer::open(space));
  return DesignWorker(std::make_unique<Impl>(Impl{std::move(pricer)}));
}

std::string DesignWorker::fingerprint() const { return impl_->pricer->fingerprint(); }
Expected<std::string> DesignWorker::evaluate(std::uint64_t design) const {
  const std::uint64_t size = impl_->pricer->space().size();
  if (design < size) return to_line(impl_->pricer->price(design));
  return Error{.message = fmt::format("there is no design {}", design),
               .place = impl_->pricer->space().name,
               .advice = fmt::format("its designs are 0 to {}", size - 1)};
}

}  // namespace monet
