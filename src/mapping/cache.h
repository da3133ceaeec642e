// Results of the search by content. Both are safe to use from several threads; what they hold never changes an answer.
#pragma once

#include "mapping/search.h"

#include <monet/expected.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace monet {

class MappingCache {
 public:
  using Result = std::shared_ptr<const Expected<MappedProblem>>;

  // Keeps the results that were asked for last: at least half as many, and never more (but 32). 0: all of them.
  explicit MappingCache(std::size_t most = 0);

  // The result kept under this key, or null.
  Result find(const std::string& key) const;
  // The first one under a key stays as long as it is kept; gives that one.
  Result put(const std::string& key, Result result);
  std::size_t size() const;

 private:
  // Threads wait for each other only where their keys are in one part.
  struct Part {
    std::mutex mutex;
    std::unordered_map<std::string, Result> results;
    std::unordered_map<std::string, Result> older;  // forgotten when there are enough new ones

    Result find(const std::string& key, std::size_t most);
    Result add(const std::string& key, Result result, std::size_t most);
  };
  std::size_t most_in_half_;  // of a part
  mutable std::array<Part, 16> parts_;

  static std::size_t part_of(const std::string& key);
};

// Mappings kept in a file, one a line: a digest of what was asked, then the mapping. Costs are computed anew when a
// mapping is read, so that a damaged or an old file cannot give a wrong number: its lines are ignored.
class MappingStore {
 public:
  // A file that does not exist is an empty one. Fails when it cannot be read.
  static Expected<MappingStore> open(const std::string& path);

  // Null: none. Stays good.
  const Mapping* find(const std::string& digest) const;
  // To be written by `save`.
  void add(const std::string& digest, const Mapping& mapping);
  // Appends what was added. Fails when it cannot be written.
  Status save();
  std::size_t ignored_lines() const { return ignored_; }

 private:
  std::string path_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // of all below
  std::unordered_map<std::string, Mapping> mappings_;
  std::vector<std::string> added_;
  std::size_t ignored_ = 0;
};

std::string to_line(const Mapping& mapping);
std::optional<Mapping> mapping_from(std::string_view line);

}  // namespace monet
