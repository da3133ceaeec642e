#include "base/parallel.h"
#include "explore/executor/executor.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <optional>

namespace monet::explore {

namespace {

class ThreadExecutor : public Executor {
 public:
  ThreadExecutor(DesignPricer& pricer, std::size_t jobs) : pricer_(pricer), threads_(threads_for(jobs)) {}

  Status run(std::span<const Design> designs, const std::function<Status(Outcome&&)>& done,
             const std::function<bool()>& stop) override {
    std::mutex one_at_a_time;
    std::atomic<bool> over = false;
    std::optional<Error> failure;
    // Neighbours have mappings in common: threads work far from each other, so that none is made twice at once.
    const std::size_t stride = (designs.size() + threads_ - 1) / threads_;
    for_each_index(stride * threads_, threads_, [&](std::size_t i) {
      const std::size_t at = i % threads_ * stride + i / threads_;
      if (at >= designs.size()) return;
      if (over || (stop && stop())) {
        over = true;
        return;
      }
      Outcome outcome = pricer_.price(designs[at]);
      const std::lock_guard lock(one_at_a_time);
      if (failure) return;
      const Status written = done(std::move(outcome));
      if (written) return;
      failure = written.error();
      over = true;
    });
    if (failure) return *failure;
    return Done{};
  }

  std::string who() const override { return fmt::format("{} thread{}", threads_, threads_ == 1 ? "" : "s"); }
  // Threads that end early wait for the last: enough for each that this is little.
  std::size_t batch_hint() const override { return 256 * threads_; }

 private:
  DesignPricer& pricer_;
  std::size_t threads_;
};

}  // namespace

std::unique_ptr<Executor> thread_executor(DesignPricer& pricer, std::size_t jobs) {
  return std::make_unique<ThreadExecutor>(pricer, jobs);
}

}  // namespace monet::explore
