#include "remat/remat_brute_force.h"

#include <map>
#include <queue>
#include <tuple>
#include <vector>

namespace monet::test {

namespace {

using remat::NodeIndex;

struct Place {
  unsigned made = 0, here = 0, stored = 0;  // sets of nodes
  auto operator<=>(const Place&) const = default;
};

struct Label {
  double price, time;
  Place place;
  bool operator<(const Label& other) const { return std::tie(price, time) > std::tie(other.price, other.time); }
};

class BruteForce {
 public:
  BruteForce(const remat::Problem& problem, const BruteForceRules& rules) : problem_(problem), rules_(rules) {}

  std::optional<double> run() {
    const unsigned all = (1U << problem_.size()) - 1;
    queue_.push({0, 0, {}});
    while (!queue_.empty()) {
      const Label label = queue_.top();
      queue_.pop();
      if (label.place.made == all) return label.price;
      // Prices only grow: a label is of use if it is quicker than all cheaper ones of its place.
      const auto [best, fresh] = quickest_.try_emplace(label.place, label.time);
      if (!fresh && best->second <= label.time) continue;
      best->second = label.time;
      for (NodeIndex node = 0; node < problem_.size(); ++node) try_all(label, node);
    }
    return std::nullopt;
  }

 private:
  void try_all(const Label& label, NodeIndex node) {
    const unsigned bit = 1U << node;
    const remat::Node& cost = problem_.nodes[node];
    if ((label.place.here & bit) != 0) {
      go(label, {label.place.made, label.place.here & ~bit, label.place.stored}, 0, 0);
      if (rules_.page && problem_.channel)
        go(label, {label.place.made, label.place.here, label.place.stored | bit}, 0,
           problem_.channel->power_w * problem_.channel->out_s(cost.bytes));
      return;
    }
    const Place with = {label.place.made | bit, label.place.here | bit, label.place.stored};
    if ((label.place.stored & bit) != 0)
      go(label, with, 0, problem_.channel->power_w * problem_.channel->in_s(cost.bytes));
    const bool again = (label.place.made & bit) != 0;
    if (again && !(rules_.recompute && cost.recomputable)) return;
    if (!again && rules_.given_order && label.place.made != bit - 1) return;
    for (const NodeIndex operand : problem_.operands.of(node))
      if ((label.place.here & (1U << operand)) == 0) return;
    go(label, with, cost.time, cost.energy_j);
  }

  void go(const Label& label, const Place& place, double time, double energy) {
    std::int64_t bytes = problem_.fixed_bytes;
    for (NodeIndex node = 0; node < problem_.size(); ++node)
      if ((place.here & (1U << node)) != 0) bytes += problem_.nodes[node].bytes;
    if (bytes > rules_.budget || (rules_.deadline && label.time + time > *rules_.deadline + 1e-9)) return;
    queue_.push({label.price + (rules_.energy ? energy : time), label.time + time, place});
  }

  const remat::Problem& problem_;
  const BruteForceRules& rules_;
  std::priority_queue<Label> queue_;
  std::map<Place, double> quickest_;
};

}  // namespace

std::optional<double> brute_force(const remat::Problem& problem, const BruteForceRules& rules) {
  return BruteForce(problem, rules).run();
}

}  // namespace monet::test
