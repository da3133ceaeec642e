// Addresses for buffers with lifetimes: the bare problem.
#pragma once

#include <monet/expected.h>
#include <monet/text.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace monet {

struct PackOptions {
  std::optional<std::int64_t> capacity;  // bytes; none: as small as can be found
  // None: a fixed amount of search, a few seconds, with the same answer everywhere. Else seconds after which the best
  // found so far is the answer.
  std::optional<double> time_limit_s;
  std::function<bool()> stop;  // asked now and then; true: the best found so far is the answer
};

struct PackedBuffer {
  std::string id;
  std::int64_t lower = 0, upper = 0;  // alive in [lower, upper)
  std::int64_t size = 0;
  std::int64_t alignment = 1;
  std::int64_t offset = 0;
};

struct Packing {
  std::string file;
  std::optional<std::int64_t> capacity;
  std::int64_t peak_bytes = 0;      // highest address in use
  std::int64_t max_load_bytes = 0;  // no packing needs less
  bool placed = false;              // all of them, within the capacity
  bool proven = false;              // the peak is the least, or that nothing fits is certain
  std::vector<PackedBuffer> buffers;
  std::int64_t fullest_time = 0;     // a moment at which the load is largest
  std::vector<std::size_t> fullest;  // the buffers alive then, largest first
  std::vector<std::string> notes;
  double wall_s = 0;
};

// `path` is a CSV file with the columns id, lower, upper, size and, if there, alignment.
Expected<Packing> pack_file(const std::string& path, const PackOptions& options);

// When they are not placed: the shortfall, where, and what is alive there.
Error does_not_fit(const Packing& packing);

std::string to_json(const Packing& packing);
Text to_text(const Packing& packing);
std::string to_csv(const Packing& packing);  // id,lower,upper,size,offset, and alignment where one is not 1

}  // namespace monet
