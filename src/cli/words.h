// Words that an option takes. The parser checks them, and the reference and the shells' completion know them.
#pragma once

#include "cli/offered.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace monet::cli {

// One of these and no other; the message has the nearest.
CLI::Validator one_of(const std::vector<std::string>& words);
// These, and others that cannot be listed: "output:NAME".
CLI::Validator such_as(const std::vector<std::string>& words);

// Names that come with the program, or a file.
CLI::Validator name_or_file(Offer offer);

// By its words, else by the name of its value: FILE, DIR.
Offered offered_by(CLI::Option& option);

}  // namespace monet::cli
