#include "base/try.h"
#include "explore/space/open.h"

#include <monet/explore.h>

namespace monet {

Expected<std::vector<SpaceInfo>> builtin_spaces() {
  std::vector<SpaceInfo> infos;
  for (const std::string& name : explore::space_names()) {
    MONET_TRY(const explore::Space space, explore::open_space(name));
    infos.push_back({.name = name, .description = space.description, .size = space.size()});
  }
  return infos;
}

}  // namespace monet
