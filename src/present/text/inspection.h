// Tables of an inspection that other texts share.
#pragma once

#include <monet/inspect.h>
#include <monet/text.h>

namespace monet {

Table layer_table(const Inspection& inspection);
Table operator_table(const Inspection& inspection);

}  // namespace monet
