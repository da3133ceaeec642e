#include "present/shared/reach.h"
#include "present/json/json.h"

namespace monet {

void add_reach(Json& json, const Reach& reach) {
  const auto known = [](const std::optional<double>& percent) { return percent ? Json(*percent) : Json(nullptr); };
  json["lowering"] = reach.lowering;
  json["expected_error"] = {{"latency_percent", known(reach.latency_percent)},
                            {"energy_percent", known(reach.energy_percent)},
                            {"memory_percent", known(reach.memory_percent)},
                            {"source", reach.source.empty() ? Json(nullptr) : Json(reach.source)}};
  json["reach_text"] = reach_text(reach);
}

}  // namespace monet
