#include "remat/prices.h"

namespace monet::remat {

Prices prices_of(const Problem& problem, const PriceWeights& weights) {
  Prices prices;
  double sum = 0;
  for (const Node& node : problem.nodes) {
    prices.compute.push_back(weights.time * node.time + weights.energy * node.energy_j);
    sum += prices.compute.back();
    if (!problem.channel) continue;
    const Channel& channel = *problem.channel;
    const double by_second = weights.energy * channel.power_w + weights.transfer_time;
    prices.page_in.push_back(by_second * channel.in_s(node.bytes));
    prices.page_out.push_back(by_second * channel.out_s(node.bytes));
  }
  constexpr double far_below = 1e-9;
  if (sum > 0) prices.least = far_below * sum / static_cast<double>(problem.size());
  return prices;
}

double total_price(const Sequence& sequence, const Prices& prices) {
  std::vector<std::uint32_t> computed(prices.compute.size(), 0), paged(prices.page_in.size(), 0);
  for (const Run run : sequence) ++(run.paged() ? paged : computed)[run.node()];
  double sum = 0;
  for (std::size_t node = 0; node < computed.size(); ++node) sum += computed[node] * prices.compute[node];
  for (std::size_t node = 0; node < paged.size(); ++node)
    if (paged[node] > 0) sum += paged[node] * prices.page_in[node] + prices.page_out[node];
  return sum;
}

}  // namespace monet::remat
