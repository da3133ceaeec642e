// Chips whose cores are arrays or rates: a network unit beside the cores carries out their collectives, one after the
// other, and the schedule runs cores meanwhile with what does not wait for them.
#pragma once

#include "evaluate/evaluate.h"
#include "evaluate/kernels/kernel_network.h"

#include <monet/evaluate.h>

#include <vector>

namespace monet {

// The machine with one core more, "network", which works on the home memory of the others and runs collectives, as
// they do not. Its own costs are those of collective_costs().
Hardware with_network_unit(Hardware hardware);

// What collectives of this graph take on that core; of other operators what `others` says, if it is not empty.
CustomCosts collective_costs(const Graph& graph, const ChipNetwork& network, double clock_hz,
                             const std::string& precision, CustomCosts others);

// The collectives of a schedule in the order in which they start; exposed: while none of the cores worked.
std::vector<Exchange> exchanges_of(const Graph& graph, const Hardware& hardware, const Evaluated& evaluated,
                                   const ChipNetwork& network);

}  // namespace monet
