// Which tensors from outside are trained and which are not, where the user says so.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <string>
#include <string_view>
#include <vector>

namespace monet {

struct RoleChoice {
  std::vector<std::string> parameters;  // patterns of names: trained
  std::vector<std::string> buffers;     // patterns of names: kept, and not trained

  bool operator==(const RoleChoice&) const = default;
  bool names(std::string_view tensor) const;
  bool names_parameter(std::string_view tensor) const;
};

// Overrules every guess: floating-point tensors that no node makes become parameters, or constants.
// Fails when a pattern matches none of them, or one is named as both.
Status choose_roles(Graph& graph, const RoleChoice& choice);

}  // namespace monet
