// Two results, compared.
#pragma once

#include "present/compare/comparison_facts.h"

#include <monet/compare.h>

#include <string>

namespace monet {

Comparison compare(const ResultFacts& a, const ResultFacts& b);
// The same of files that were read; results of one name are called by their folders.
Expected<Comparison> compare_files(const ResultFile& a, const ResultFile& b);

// Which part explains most of what changed, in a sentence or two.
std::string summary_of(const Comparison& comparison);

}  // namespace monet
