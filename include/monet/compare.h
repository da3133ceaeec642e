// Two results: what changed, and which part explains it.
#pragma once

#include <monet/expected.h>
#include <monet/text.h>

#include <string>
#include <vector>

namespace monet {

struct ComparisonRow {
  std::string total;  // "latency", "energy", "memory dram"
  std::string part;   // of it: "compute", "static", "activation"; empty: the total itself
  std::string unit;   // cycles, s, pJ, bytes
  double a = 0, b = 0, delta = 0;

  std::string name() const { return part.empty() ? total : total + ": " + part; }
};

struct ComparedOperator {
  std::string name, phase;
  double a_cycles = 0, b_cycles = 0;  // busy; 0 where it is absent
  double a_pj = 0, b_pj = 0;
};

struct Comparison {
  std::string a, b;
  std::string a_recipe, a_recipe_from, b_recipe,
      b_recipe_from;                        // of the number formats, as in Evaluation; empty: not said
  double clock_hz = 0;                      // of both; 0: none, or they differ
  std::vector<ComparisonRow> rows;          // the parts of a total follow it and add up to it
  std::vector<ComparedOperator> operators;  // those that differ most, first
  struct Difference {
    std::string what, a, b;
  };
  std::vector<Difference> assumptions;  // model, machine, batch, objective … where they differ
  std::vector<std::string> notes;
};

// Each is a folder that `evaluate -o` wrote, or its result.json.
Expected<Comparison> compare_results(const std::string& a, const std::string& b);

std::string to_json(const Comparison& comparison);
Text to_text(const Comparison& comparison);
std::string to_csv(const Comparison& comparison);

}  // namespace monet
