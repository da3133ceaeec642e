// Operators on the cores of a machine, each by itself: cycles, energy, traffic, and what binds.
#pragma once

#include <monet/expected.h>
#include <monet/machine.h>
#include <monet/reach.h>
#include <monet/text.h>
#include <monet/train.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct MapOptions {
  TrainOptions train;     // batch, dimensions, precision; the rest counts with `training`
  bool training = false;  // the whole training step; else the file as it is

  Machine machine;
  std::string core;      // only this one; empty: the best for each operator
  std::string lowering;  // as EvaluateOptions has it
  bool on_chip = false;  // operands start and end in the core's own memories, not in off-chip memory

  std::string objective = "latency";  // energy, edp
  std::int64_t factors = 6;           // pieces of loops that are put in every order
  bool full = false;                  // more pieces, as many as can be searched
  bool refine = true;                 // other sizes of the pieces afterwards
  std::string mapping_file;           // ZigZag's
  bool zigzag = false;                // that tool's search and rules, defects included
  bool non_negative = false;          // with zigzag: without its negative loading times
  std::vector<std::string> layers;    // patterns of node names; none: all
  std::string cache_file;             // mappings kept from run to run
  std::int64_t jobs = 0;              // threads; 0: all processors

  std::function<bool()> stop;  // asked often: true leaves what is not mapped yet unmapped
  std::function<void(std::size_t done, std::size_t all)> progress;
};

struct MemoryTraffic {
  std::string operand;  // "input", "weight", "output"
  std::string memory;
  double read_words = 0, written_words = 0;  // of the port's whole width
  double read_bits = 0, written_bits = 0;
};

// One nest of an operator: most have one.
struct MappedNest {
  std::string unit;
  std::string precision;
  std::vector<std::pair<std::string, std::int64_t>> loops;     // sizes
  std::vector<std::pair<std::string, std::int64_t>> unrolled;  // "K on D1" and lanes
  std::string
      order;  // readable as a nest: "for C 2 / for FY 3 …", innermost last, with the level that holds each operand
  double cycles = 0, ideal_cycles = 0, compute_cycles = 0;
  double stall_cycles = 0, load_cycles = 0, unload_cycles = 0, fill_cycles = 0;
  double energy_pj = 0, compute_pj = 0, static_pj = 0, network_pj = 0;
  std::vector<std::pair<std::string, double>> memory_pj;
  std::vector<MemoryTraffic> traffic;
  double bound_cycles = 0, bound_pj = 0;
  std::string bound_by;
  double evaluated = 0;
};

// A launch on a kernel core.
struct MappedKernel {
  std::string kernel_class;  // "product.forward.bf16"
  std::string law;           // its form: product, windows, stream …
  std::string law_of;        // the class whose coefficients it takes: a near one where it has none; empty: the defaults
  std::int64_t measured = 0;  // kernels of that class in the machine's file
  // Laws over tiles: the tile that is fastest by the law, into how many parts the sum is split, and how often all
  // multiprocessors have one; 0: the law has none.
  std::int64_t tile_m = 0, tile_n = 0, split = 0;
  double waves = 0;
  double us = 0;
  double cold_share = 0;  // of the bytes that it reads: they come from memory
};

struct MappedLayer {
  std::string name;
  std::string op;
  std::string phase;
  std::string core;    // empty: not mapped
  std::string reason;  // why not
  double macs = 0;
  double cycles = 0;
  double ideal_cycles = 0;
  double energy_pj = 0;
  double utilization = 0;  // ideal / cycles
  double bound_cycles = 0;
  std::vector<MappedNest> nests;
  std::optional<MappedKernel> kernel;  // instead of nests
};

struct NetworkMapping {
  std::string model;
  std::string hardware;
  std::string objective;
  std::string mode;                 // "monet", "zigzag"
  std::string recipe, recipe_from;  // of the number formats, as in Evaluation
  Reach reach;
  double clock_hz = 0;
  std::vector<MappedLayer> layers;    // what moves or computes something
  std::vector<MappedLayer> unmapped;  // with reasons
  std::vector<std::string> expanded;  // composite operators that no core runs whole: their parts are mapped, X.OPERATOR
  std::int64_t views = 0;             // free
  std::int64_t unique = 0;            // different problems that were searched
  double evaluated = 0;               // mappings that were costed
  double cycles = 0, energy_pj = 0, macs = 0, bound_cycles = 0;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
};

Expected<NetworkMapping> map_network(const Network& network, const MapOptions& given);

struct MapView {
  bool nests = false;  // the loops of each operator
};

// As one JSON object with "schema": 1; as tables; one line an operator, with a heading.
std::string to_json(const NetworkMapping& mapping);
Text to_text(const NetworkMapping& mapping, const MapView& view);
std::string to_csv(const NetworkMapping& mapping);

}  // namespace monet
