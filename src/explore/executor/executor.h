// Who evaluates designs: the threads of this process, or a cluster.
#pragma once

#include "explore/price/outcome.h"
#include "explore/price/pricer.h"

#include <functional>
#include <span>
#include <string>

namespace monet::explore {

class Executor {
 public:
  virtual ~Executor() = default;
  // Every design once, in any order; `done` is called by one thread at a time, for each as soon as it is known. Returns
  // early when `stop` says so, or `done` fails.
  virtual Status run(std::span<const Design> designs, const std::function<Status(Outcome&&)>& done,
                     const std::function<bool()>& stop) = 0;
  // For progress: "2 threads", "3 workers".
  virtual std::string who() const = 0;
  // Designs that should be asked for at once, at least, to keep all busy.
  virtual std::size_t batch_hint() const = 0;
};

// `jobs` 0: as many as there are processors.
std::unique_ptr<Executor> thread_executor(DesignPricer& pricer, std::size_t jobs);

struct ClusterOptions {
  std::string address;                   // of a running scheduler, or "local:N"
  std::string python;                    // empty: $MONET_PYTHON, else python3
  double batch_s = 2;                    // seconds that a batch should take
  double hang_s = 600;                   // a design that takes longer is tried again in another process
  int tries = 2;                         // of a design that ends its worker
  std::function<bool()> stop = nullptr;  // asked while it starts
};

// Starts `python3 -m monet.cluster`; docs/cluster.md has the words that pass over the pipe.
Expected<std::unique_ptr<Executor>> cluster_executor(const DesignPricer& pricer, const ClusterOptions& options);

}  // namespace monet::explore
