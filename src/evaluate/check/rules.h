// The rules, each in a file of its own. Each adds what it finds to the subject's findings.
#pragma once

#include "evaluate/check/holdings.h"
#include "evaluate/check/subject.h"

namespace monet::check {

// Sizes of tables, ids, finite times. Needs no prepare(); all others need this one to find nothing.
void check_form(const Subject& subject);
// The grid of each operator, the buffers and who writes them. The ones below need this one to find nothing.
void check_grids(const Subject& subject);

void check_cores(const Subject& subject);
void check_order(const Subject& subject);
// Gives the number of tiles that it looked at.
std::size_t check_elements(const Subject& subject);
void check_presence(const Subject& subject, const Holdings& holdings);
void check_routes(const Subject& subject);
void check_transfers(const Subject& subject, const Holdings& holdings);
void check_channels(const Subject& subject);
void check_capacities(const Subject& subject);
void check_storage(const Subject& subject, const Holdings& holdings);
void check_paging(const Subject& subject);

}  // namespace monet::check
