// Many evaluations that share what they have found out about single tiles.
#pragma once

#include "mapping/cache.h"

#include <monet/evaluate.h>

#include <string>

namespace monet {

Expected<Evaluation> evaluate_network(const Network& network, const StepRequest& given, MappingCache& cache);

}  // namespace monet
