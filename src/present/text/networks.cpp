#include "base/prefixes.h"
#include "base/quantities.h"

#include <monet/networks.h>

#include <fmt/format.h>

#include <algorithm>

namespace monet {

Text to_text(const std::vector<NetworkSummary>& networks) {
  Text text;
  if (networks.size() == 1) {
    const NetworkSummary& network = networks.front();
    text += fmt::format("{}\n{}\n", network.name, network.description);
    text += fmt::format("{:<12} {}\n{:<12} {} forward\n{:<12} {}\n\n", "parameters", grouped(network.parameters),
                        "MACs", grouped(network.macs), "operators", grouped(network.operators));
    Table sizes({{"size"},
                 {"by default", Table::Align::right},
                 {"from", Table::Align::right},
                 {"to", Table::Align::right},
                 {"what it is"}});
    for (const NetworkSize& size : network.sizes)
      sizes.add({size.name, grouped(size.by_default), grouped(size.smallest), grouped(size.largest), size.meaning});
    text += sizes;
    const NetworkSize& size = network.sizes[std::min<std::size_t>(1, network.sizes.size() - 1)];
    text += fmt::format("\nFor example: monet inspect {}:{}={}\n", network.name, size.name, size.by_default);
    return text;
  }
  Table table({{"network"}, {"parameters", Table::Align::right}, {"MACs", Table::Align::right}, {"what it is"}});
  for (const NetworkSummary& network : networks)
    table.add({network.name, with_prefix(network.parameters), with_prefix(network.macs), network.description});
  text += table;
  text +=
      "\nForward MACs with the sizes that each has by itself; monet networks NAME lists these, and they are set as in "
      "gpt2:layers=2,width=384.\n";
  return text;
}

}  // namespace monet
