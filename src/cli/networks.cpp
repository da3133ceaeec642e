#include "cli/command.h"

#include <monet/networks.h>

namespace monet::cli {

int run(const NetworksCommand& command) {
  const auto networks = list_networks(command.name);
  if (!networks) return report(networks.error());
  return command.common.json ? print_json(to_json(*networks)) : print(to_text(*networks));
}

}  // namespace monet::cli
