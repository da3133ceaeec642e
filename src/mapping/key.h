// Equal content, equal key: by it results are shared between equal operators, tiles and cores, and kept on disk.
#pragma once

#include "mapping/search.h"

#include <cstdint>
#include <string>
#include <utility>

namespace monet {

// All that the result of map_problem depends on, and no names.
std::string key_of(const Problem& problem);
std::string key_of(const Target& target);
std::string key_of(const SearchOptions& options);

// 32 hexadecimal digits for a key, and for the version of the model.
std::string digest_of(const std::string& key);
// The same as two words.
std::pair<std::uint64_t, std::uint64_t> digest_words_of(const std::string& key);
int version_of_model();

}  // namespace monet
