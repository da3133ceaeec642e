// What a mapping file prescribes for an operator, in terms of a problem and a target.
#pragma once

#include "mapping/mapping_file.h"
#include "mapping/search.h"

namespace monet {

// Loops that an entry names: they must keep their names.
std::vector<Dim> named_loops(const MappingFile::Entry& entry);

// Unrolling, order and levels. Loops that the problem does not have are left out, as are sizes beyond what there is.
// Fails for a dimension or a memory that the target does not have.
Expected<MappingConstraints> constraints_of(const MappingFile::Entry& entry, const Problem& problem,
                                            const Target& target);

}  // namespace monet
