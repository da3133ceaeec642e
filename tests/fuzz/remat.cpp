// Whatever the text, reading it as a graph or as devices ends with one or with an error; and what fits a graph holds in
// the checker.
#include "remat/reader.h"
#include "remat/solve.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void require(const std::string& fault) {
  if (fault.empty()) return;
  std::fprintf(stderr, "%s\n", fault.c_str());
  std::abort();
}

std::string defect(const monet::Error& error) { return error.kind == monet::ErrorKind::defect ? error.text() : ""; }

void solve_within(const monet::remat::Problem& problem, std::int64_t budget) {
  namespace remat = monet::remat;
  const remat::Goal goal{.budget = budget,
                         .objective = problem.has_energy ? remat::Objective::energy : remat::Objective::time};
  remat::SolveOptions options{.bound = problem.size() <= 12, .jobs = 1, .time_limit_s = 0.05};
  options.moves.reorder = problem.size() % 2 == 0;
  const remat::Solution solution = remat::solve(problem, goal, options);
  for (const auto* answer : {&solution.given, &solution.reordered})
    if (*answer) require((*answer)->checked.fault);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace remat = monet::remat;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = remat::read_device(text, "fuzz.json", "m0");
  if (!read) require(defect(read.error()));
  const remat::Device device{.name = "d",
                             .flop_per_s = 1e6,
                             .flop_per_j = 1e6,
                             .element_bytes = 4,
                             .channel = {.in_bytes_per_s = 1e6, .out_bytes_per_s = 1e6, .power_w = 1}};
  for (const remat::Device* on : {static_cast<const remat::Device*>(nullptr), &device}) {
    const auto graph = remat::read_graph(text, "fuzz.json", on);
    if (!graph) {
      require(defect(graph.error()));
      continue;
    }
    const remat::Problem& problem = graph->problem;
    constexpr std::size_t most_nodes = 60;
    if (problem.size() > most_nodes) continue;
    const std::int64_t least = remat::structural_minimum(problem).bytes, most = remat::base_peak_bytes(problem);
    for (const std::int64_t budget : {least, least + (most - least) / 2, most}) solve_within(problem, budget);
  }
  return 0;
}
