// Launches and exchanges with other chips in time. Launches of a chip run one after the other. A collective is issued
// where it stands among them, once the launch before it is done, and runs beside those that do not touch what it reads
// and writes; collectives that use one level of the fabric run on it one after the other.
#pragma once

#include "fabric/price.h"
#include "graph/graph.h"
#include "hardware/hardware.h"
#include "kernels/lower/walk.h"

#include <monet/expected.h>

#include <map>
#include <tuple>
#include <vector>

namespace monet {

struct ChipNetwork {
  Mesh mesh;
  Fabric fabric;                   // of as many chips as the mesh has
  std::vector<GroupShape> groups;  // by axis of the mesh
  bool overlap = true;             // false: nothing runs beside a collective
};

// Fails where the machine has no fabric, or the mesh does not lie evenly on it.
Expected<ChipNetwork> network_of(const Hardware& hardware, const Mesh& mesh, bool overlap);

// What a collective of this chip is, and what it takes when nothing else is on the network.
struct PricedCollective {
  std::string over;        // the axis of the mesh, or several: "dp+cp"
  std::int64_t chips = 1;  // of the group
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;  // of the whole tensors, as Collective has it
  CollectivePrice price;

  // pJ of one chip's part.
  double energy_pj() const { return price.energy_pj / static_cast<double>(chips); }
};

class CollectivePrices {
 public:
  // Keeps references.
  CollectivePrices(const Graph& graph, const ChipNetwork& network);
  // Requires a collective over axes of the mesh. Equal ones are priced once.
  PricedCollective of(const Node& node);

 private:
  const Graph& graph_;
  const ChipNetwork& network_;
  std::map<std::tuple<std::string, CollectiveKind, double>, CollectivePrice> known_;
};

// One collective of this chip.
struct Exchange : PricedCollective {
  std::size_t launch = 0;
  double start_us = 0, end_us = 0;
  double exposed_us = 0;  // for which no launch ran since it was not done
};

struct LaunchTimes {
  std::vector<double> start_us, end_us;  // by launch, collectives too
  std::vector<Exchange> exchanges;       // in the order in which they are issued
  double total_us = 0;
};

// Sets what collectives take in `costs`, as if one thing ran after the other; their energy is this chip's part.
// Requires a network where a launch is a collective; null elsewhere.
// Ensures: start and end times keep the rules above; nothing waits for more than one thing at a time, so that exposed
// times and launches add up to the whole.
LaunchTimes times_of(const Graph& graph, const LoweredStep& step, StepCosts& costs, const ChipNetwork* network);

}  // namespace monet
