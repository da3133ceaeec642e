// What a result comes to, in sentences: what the time goes to, which operator is largest, how far a better plan could
// go.
#pragma once

#include <monet/evaluate.h>

#include <string>
#include <vector>

namespace monet {

// From the result alone, the most telling first; three sentences at most. Empty: nothing ran.
std::vector<std::string> diagnosis_of(const Evaluation& evaluation);

}  // namespace monet
