// Links between parts that are there: each entry of `links` becomes one or many.
#pragma once

#include "hardware/check.h"
#include "hardware/part_names.h"

namespace monet {

// Adds the links of one scope to `hardware`. `joined` counts the ends of all links, of which there must not be too
// many.
Status join_parts(const std::vector<LinkPrototype>& links, ScopeId scope, PartNames& names, Hardware& hardware,
                  HardwarePlaces& places, std::size_t& joined);

}  // namespace monet
