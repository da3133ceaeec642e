// The larger parts of to_details(), each one member of the object (web/src/data.ts says what is in them).
#pragma once

#include "present/page/details_text.h"

#include <monet/evaluate.h>

#include <vector>

namespace monet {

// A power of two so that `times` (cycles, none negative) are whole numbers of it, or off by less than a millionth of
// the largest.
double tick_of(const std::vector<double>& times);

void write_schedule(DetailsText& out, const Evaluation& evaluation);
void write_lifetimes(DetailsText& out, const Evaluation& evaluation);
void write_graph(DetailsText& out, const StepGraph& graph);

}  // namespace monet
