#include "explore/store/rescue.h"
#include "base/try.h"
#include "explore/price/pricer.h"
#include "explore/space/open.h"

#include <monet/explore.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monet {

Expected<Rescue> rescue_store(const RescueOptions& options) {
  std::optional<explore::StoreContent> given;
  if (!options.space.empty()) {
    MONET_TRY(const explore::Space space, explore::open_space(options.space));
    MONET_TRY(const std::unique_ptr<explore::DesignPricer> pricer, explore::DesignPricer::open(space));
    given = explore::content_of(*pricer);
  }
  MONET_TRY(const explore::RescuedStore rescued, explore::rescue(options.damaged, given, options.store));
  return Rescue{options.damaged, rescued.path, rescued.designs, rescued.broken};
}

std::string to_json(const Rescue& rescue) {
  const nlohmann::ordered_json json = {
      {"damaged", rescue.damaged}, {"store", rescue.store}, {"rescued", rescue.rescued}, {"broken", rescue.broken}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace monet
