// Results that were written as text: read from files, or at hand.
#pragma once

#include <monet/compare.h>
#include <monet/expected.h>

#include <string>
#include <vector>

namespace monet {

struct NamedResult {
  std::string name;     // a folder that -o wrote, its result.json, or a store; with a text, a name of its own
  std::string result;   // what to_json() gave; empty: `name` says where it is
  std::string details;  // what to_details() gave, with `result`; may be empty
};

Expected<Comparison> compare_results(const NamedResult& a, const NamedResult& b);

// A page of one, or of two evaluations and what changed. `title`: empty: from what is shown. `objectives`: of a store.
Expected<std::string> report_page(const std::vector<NamedResult>& results, const std::string& title,
                                  const std::vector<std::string>& objectives);

}  // namespace monet
