// Published training steps on many chips as rows of a table of others, and what their sources leave out.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <string>
#include <vector>

namespace monet {

// The same for all rows of a source: data/validation/parallel_sources.csv, where each line says why.
struct ParallelSource {
  std::string pattern;  // of the column `source`
  std::string machine;  // a preset, or a file beside the table
  std::string network;  // gpt, llama, nemotron, or by model: as its name begins
  std::string precision;
  bool fused = false;                    // element-wise kernels that follow on one another are one
  double host_us = 0;                    // that the host needs for a launch
  bool flash = false;                    // attention is one operator
  std::int64_t dropout = 0;              // per cent
  std::int64_t vocabulary_multiple = 1;  // of tp times that
  bool scatter = true;                   // chips of tp each send a part of what passes between stages
  bool overlap = false;                  // sums of gradients and messages run beside launches
  // Collectives of tp: off, nothing runs beside them; on, what does not depend on them; pieces, the products too.
  std::string tp_overlap;
  double gradient_bytes = 0;
  // Where a row has none.
  std::string recompute, schedule;
  bool sequence = false;
  int zero = 0;
  std::int64_t chunks = 1, micro_batch = 1;
};

struct ParallelCase {
  std::string id, source, model, precision, recompute;
  const ParallelSource* from = nullptr;  // in what was read; null: no line is for this source
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, ffn = 0, tokens = 0, vocabulary = 0;
  std::int64_t chips = 0, tp = 1, pp = 1, dp = 1, cp = 1, ep = 1, chunks = 1, micro_batch = 1, batch = 0;
  bool sequence = false, derived = false;
  int zero = 0;
  double seconds = 0;  // 0: none is published
  std::string name;    // "p0022, Korthikanti et al. …, GPT-3 175B on 64"

  std::string series() const;  // of rows that differ in chips and batch alone
  std::string group() const;   // of rows that are the same work on as many chips
};

// The part of a source by which people know it: "vTrain", "MLPerf Training v3.1".
std::string family_of_source(const std::string& source);

struct ParallelTable {
  std::vector<ParallelSource> sources;
  std::vector<ParallelCase> cases;
};

// `points`: measured_points.csv; `sources`: parallel_sources.csv.
Expected<ParallelTable> read_parallel_table(const std::string& points, const std::string& sources);

}  // namespace monet
