// Operators of a graph on the cores of a machine, each by itself.
#pragma once

#include "graph/graph.h"
#include "mapping/cache.h"
#include "mapping/extract.h"
#include "mapping/mapping_file.h"
#include "mapping/search.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monet {

struct NestCost {
  std::string unit;  // that runs it; empty on a rate core
  Problem problem;   // as it was mapped
  Mapping mapping;
  MappingCost cost;
  std::vector<std::string> memories;  // names for cost.memory_pj
  double evaluated = 0;
};

struct OperatorCost {
  NodeId node;
  CoreId core;                  // the best one; not valid: none can run it, or it is a view
  bool is_view = false;         // moves nothing
  std::vector<NestCost> nests;  // run in turn
  std::string reason;           // why it is not mapped; empty: it is
  double cycles = 0;
  double energy_pj = 0;
  double macs = 0;
  double ideal_cycles = 0;
  double bound_cycles = 0;
};

struct OperatorOptions {
  SearchOptions search;
  ExtractOptions extract;
  CoreId core;           // only this one; not valid: the best of all
  bool off_chip = true;  // operands start and end in off-chip memory where the core can reach one
  std::size_t jobs = 0;  // threads; 0: all processors
  MappingStore* store = nullptr;
  const MappingFile* mapping_file = nullptr;  // what it prescribes, by operator
  std::function<bool(const Node&)> wanted;    // none: every node
  std::function<bool()> stop;                 // true: what is not mapped yet carries that as its reason
  std::function<void(std::size_t done, std::size_t all)> progress;
};

struct MappedOperators {
  std::vector<OperatorCost> operators;  // in the order of the graph's nodes
  std::size_t unique = 0;               // different problems that were searched
  double evaluated = 0;                 // mappings that were costed
  std::vector<std::string> notes;       // where a unit's precision is not the operator's
};

// The same result for any number of threads. A node that cannot be mapped carries the reason; it ends nothing.
// Fails when the machine cannot be used at all.
Expected<MappedOperators> map_operators(const Graph& graph, const Hardware& hardware, MappingCache& cache,
                                        const OperatorOptions& options = {});

// By the core's own list, in which a pattern that begins with ! takes away from those before it; the units are another
// question.
bool may_run(const Core& core, Op op);
// Custom operators run on the cores whose lists allow them. Where none does, no list was written with them in mind: any
// core runs them that does not take them away.
bool may_run_custom(const Hardware& hardware, const Core& core);

// It has the operations and works in the numbers.
bool can_do(const Unit& unit, const Problem& problem);

// Why a core cannot run an operator whose nests do these operations at each point; empty: it can. Whether a mapping
// fits is another question.
std::string cannot_run(const Core& core, Op op, std::span<const Counts> nests);
std::string cannot_run(const Core& core, Op op, std::span<const Problem> problems);
// Also whether a core that is described by its rate has one for their precisions.
std::string cannot_run(const Core& core, double clock_hz, Op op, std::span<const Problem> problems);

// The off-chip memory that a core reaches and does not have as a level; not valid: none.
MemoryId off_chip_memory(const Hardware& hardware, CoreId core);

}  // namespace monet
