// What a shell offers where an argument is expected.
#pragma once

#include <string>
#include <vector>

namespace monet::cli {

enum class Offer { nothing, words, networks, machines, spaces, recipes, validations, files, folders };

struct Offered {
  Offer offer = Offer::nothing;
  std::vector<std::string> words;  // or names that come with the program
  bool only_these = false;
};

// Of networks, machines, spaces, recipes, validations: what comes with the program.
std::vector<std::string> names_of(Offer offer);

}  // namespace monet::cli
