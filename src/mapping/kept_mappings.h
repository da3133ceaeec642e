// Mappings kept from run to run without being asked for: in one file of the user's cache folder, which all processes
// read and write at once. It holds the version of the model, never grows beyond `most_bytes`, and forgets what its
// place is needed for. A mapping is kept with a checksum and costed anew when it is read, and only if that gives the
// bits that the search gave: what is in the file, whole or damaged, never changes an answer. Safe to use from several
// threads.
#pragma once

#include "mapping/search.h"

#include <memory>
#include <optional>
#include <string>

namespace monet {

class KeptMappings {
 public:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20U;

  // Of this process: null unless keep_mappings() of <monet/cache.h> asks for them, and where there is no such folder or
  // nothing can be written to it.
  static KeptMappings* of_user();
  // In this folder, which is made if need be; null: that cannot be done.
  static std::unique_ptr<KeptMappings> in(const std::string& folder);
  ~KeptMappings();
  KeptMappings(const KeptMappings&) = delete;
  KeptMappings& operator=(const KeptMappings&) = delete;

  // What a search for the problem on the target gave under this key.
  std::optional<MappedProblem> find(const std::string& key, const Problem& problem, const Target& target) const;
  void add(const std::string& key, const Problem& problem, const Target& target, const MappedProblem& found);

 private:
  explicit KeptMappings(int file) : file_(file) {}

  int file_;
};

}  // namespace monet
