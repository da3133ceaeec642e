// The rules, each in a file of its own. Each adds what it finds to the context's findings.
#pragma once

#include "evaluate/check/context.h"
#include "evaluate/check/holdings.h"

namespace monet::check {

// Sizes of tables, ids, finite times. Needs no prepare(); all others need this one to find nothing.
void check_form(const CheckContext& context);
// The grid of each operator, the buffers and who writes them. The ones below need this one to find nothing.
void check_grids(const CheckContext& context);

void check_cores(const CheckContext& context);
void check_order(const CheckContext& context);
// Gives the number of tiles that it looked at.
std::size_t check_elements(const CheckContext& context);
void check_presence(const CheckContext& context, const Holdings& holdings);
void check_routes(const CheckContext& context);
void check_transfers(const CheckContext& context, const Holdings& holdings);
void check_channels(const CheckContext& context);
void check_capacities(const CheckContext& context);
void check_storage(const CheckContext& context, const Holdings& holdings);
void check_paging(const CheckContext& context);

}  // namespace monet::check
