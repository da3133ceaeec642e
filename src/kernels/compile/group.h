// Which launches become one kernel.
#pragma once

#include "kernels/compile/parts.h"

#include <monet/expected.h>

#include <string>

namespace monet::compiling {

using LaunchGroup = std::vector<std::uint32_t>;  // launches, in order

// The policy of a fusing compiler (docs/evaluate.md):
// - Libraries stay alone. Everything in a group belongs to one part of the step.
// - The loops of a group go over as many elements as its largest launch; sums in it are of one kind and number.
// - A launch over fewer elements joins where nothing outside reads it (a broadcast operand), or where it works on the
//   sums themselves.
// - Sums down columns and over channels are complete when the kernel has ended: what reads them for every element is in
//   another one. Their kernel writes nothing else for every element. Sums along rows are at hand.
// - No group waits for another one that waits for it.
// Pairs that share most bytes are joined first, where one reads what the other writes or both read the same.
// `stack_of`: by launch, the stack in which a plan has its operators, 0 for none. With `planned`, launches that carry
// out operators are joined only where they are in one stack.
// Cost: pairs times what lies between them.
std::vector<LaunchGroup> groups_of(const LoweredStep& step, const std::vector<Part>& parts,
                                   const std::vector<std::uint32_t>& stack_of, bool planned);

// Why two launches cannot be in one kernel, in words; empty: nothing is against it but what lies between them.
std::string why_apart(const Part& a, const Part& b, const Launch& first, const Launch& second);

}  // namespace monet::compiling
