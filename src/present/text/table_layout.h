// Tables in lines.
#pragma once

#include "present/text/layout.h"

namespace monet {

// As laid_out() says.
void lay_out(const Table& table, std::size_t columns, std::vector<TextLine>& lines);

// Pieces of at most so many characters where words allow, the first one of at most `first`.
std::vector<std::string> wrapped(std::string_view text, std::size_t first, std::size_t columns);

}  // namespace monet
