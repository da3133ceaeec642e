#include "present/json/json.h"

#include <monet/networks.h>

namespace monet {

std::string to_json(const std::vector<NetworkSummary>& networks) {
  Json json = {{"schema", 1}, {"command", "networks"}, {"networks", Json::array()}};
  for (const NetworkSummary& network : networks) {
    Json sizes = Json::array();
    for (const NetworkSize& size : network.sizes)
      sizes.push_back({{"name", size.name},
                       {"meaning", size.meaning},
                       {"default", size.by_default},
                       {"smallest", size.smallest},
                       {"largest", size.largest}});
    json["networks"].push_back({{"name", network.name},
                                {"description", network.description},
                                {"parameters", network.parameters},
                                {"macs", network.macs},
                                {"operators", network.operators},
                                {"sizes", std::move(sizes)}});
  }
  return text_of(json);
}

}  // namespace monet
