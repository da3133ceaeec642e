// A page that opens in any browser, without a network: what was found, to look at.
#pragma once

#include <monet/checkpoint.h>
#include <monet/evaluate.h>
#include <monet/expected.h>
#include <monet/explore.h>
#include <monet/optimize.h>
#include <monet/precision.h>

#include <string>
#include <vector>

namespace monet {

// Whether this library was built with the page; without, the functions below fail.
bool has_report_page();

struct ReportOptions {
  // One: a folder that evaluate, optimize, checkpoint, explore or precision compare wrote with -o, its result.json or
  // comparison.json, or a store. Two of evaluations: each, and what changed.
  std::vector<std::string> inputs;
  std::string title;                    // empty: from what is shown
  std::vector<std::string> objectives;  // of a store; none: the space's
};

Expected<std::string> report_page(const ReportOptions& options);

// Of results at hand. An evaluation wants its trace, lifetimes and graph for all of the page.
Expected<std::string> report_page(const Evaluation& evaluation);
Expected<std::string> report_page(const Optimization& optimization);
Expected<std::string> report_page(const Checkpointing& checkpointing);
Expected<std::string> report_page(const PrecisionComparison& comparison);

// What a folder keeps of an evaluation beside result.json, so that a page can be made of it later: machine, schedule,
// lifetimes and graph, compactly.
std::string to_details(const Evaluation& evaluation);

}  // namespace monet
