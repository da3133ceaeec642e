// The energy of a step and its parts.
#pragma once

#include "evaluate/account/step.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct Energy {
  std::vector<std::pair<std::string, double>> compute;  // by precision, as they first occur among the costs
  std::vector<double> memory;                           // by memory: accesses of tiles and transfers
  std::vector<double> link;                             // by link: transfers
  double network = 0;  // wires; of tiles also the links that they stream over, which their cost does not tell apart
  double static_pj = 0;
  double total = 0;  // these, added up in this order

  std::array<double, transfer_kinds> transfers{};  // the share of transfers in memory, link and network, by kind
};

// Linear in tiles, transfers and routes.
Energy energy_of(const Hardware& hardware, const Schedule& schedule);

}  // namespace monet
