// What is kept from run to run.
#pragma once

namespace monet {

// Whether searches for mappings take those that were found before, by any process of this user, and keep theirs: in the
// folder "monet" of $XDG_CACHE_HOME, or of .cache in the home folder. They never change an answer. The program does, a
// program that uses the library does not unless it says so; with MONET_NO_CACHE set to something in the environment
// nobody does. For all that begins afterwards, in every thread of the process.
void keep_mappings(bool keep);

}  // namespace monet
