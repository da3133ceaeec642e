// Designs of a space, evaluated. What designs have in common is done once: graphs are opened once, mappings of equal
// cores are shared.
#pragma once

#include "evaluate/evaluate.h"
#include "evaluate/open/opened_step.h"
#include "explore/price/outcome.h"
#include "explore/space/space.h"
#include "mapping/cache.h"

#include <memory>

namespace monet::explore {

// Safe to use from several threads. The same outcome for a design whatever was evaluated before.
class DesignPricer {
 public:
  // Opens the workloads. Fails where one of them cannot be, or the space's first machine has other parameters.
  static Expected<std::unique_ptr<DesignPricer>> open(const Space& space);
  ~DesignPricer();

  // One design in a hundred is checked by the independent checker, always the same ones.
  Outcome price(Design design);
  Outcome price(Design design, bool check);

  const Space& space() const { return space_; }
  // By workload: content hash, operators, MACs, parameters.
  const std::vector<OpenedStep>& opened_steps() const { return opened_steps_; }
  const std::vector<std::string>& graph_hashes() const { return graph_hashes_; }
  // What the user should know of the workloads.
  std::vector<std::string> notes() const;
  // Says what is evaluated: of the space's text, the graphs, the family of hardware and the version of this program.
  // Stores and workers with another one have other results.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  class Kept;
  struct Step;
  explicit DesignPricer(Space space);
  // In the numbers that the machine takes; under the lock of what is kept, or before there are threads.
  Expected<Step> opened_for(std::size_t workload, const Hardware& hardware);
  // And as it can run it.
  std::shared_ptr<const Expected<Step>> step_on(std::size_t workload, const Hardware& hardware);

  Space space_;
  std::vector<OpenedStep> opened_steps_;
  std::vector<std::string> graph_hashes_;
  std::string fingerprint_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace monet::explore
