// What a run costs in a search.
#pragma once

#include "remat/sequence.h"

#include <vector>

namespace monet::remat {

struct Prices {
  std::vector<double> compute;            // by node
  std::vector<double> page_in, page_out;  // by node; empty without a channel. Out is paid once, before the first in
  double least = 1;                       // stands for none: far below the mean

  double of(Run run) const { return run.paged() ? page_in[run.node()] : compute[run.node()]; }
};

struct PriceWeights {
  double time = 0, energy = 0;
  double transfer_time = 0;
};
Prices prices_of(const Problem& problem, const PriceWeights& weights);

// Of all runs, added up by nodes: the same for any order of the sequence.
double total_price(const Sequence& sequence, const Prices& prices);

}  // namespace monet::remat
