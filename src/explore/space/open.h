// Opens what a user names: a space that comes with the program, or a file.
#pragma once

#include "explore/space/space.h"

#include <string>
#include <vector>

namespace monet::explore {

// A file of that name wins over a space of ours only if the name has a path or an extension.
Expected<Space> open_space(const std::string& name);
// `batch` 0: their own.
Subject subject_of(const std::string& network, std::int64_t batch);
// With a subject, which its text then says. Fails where the text says one already, and where the network is none.
Expected<Space> open_space(const std::string& name, const Subject& subject);
// Of those that come with the program (spaces/*.yaml).
const std::vector<std::string>& space_names();

}  // namespace monet::explore
