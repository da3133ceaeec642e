// Sets found by their operators.
#pragma once

#include "optimize/fusion/problem.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace monet::fusion {

class SetTable {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;

  // `sets` must outlive it; no set twice.
  explicit SetTable(const Lists<Index>& sets) : sets_(sets) {
    table_.reserve(sets.size());
    for (std::uint32_t s = 0; s < sets.size(); ++s) table_.emplace(hash_of(sets[s]), s);
  }

  // `set` in order.
  std::uint32_t find(std::span<const Index> set) const {
    for (auto [at, end] = table_.equal_range(hash_of(set)); at != end; ++at) {
      if (std::ranges::equal(sets_[at->second], set)) return at->second;
    }
    return none;
  }

 private:
  static std::uint64_t hash_of(std::span<const Index> set) {
    std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
    for (Index op : set) hash = (hash ^ op) * 0x100000001b3U;
    return hash ^ (hash >> 29);
  }

  const Lists<Index>& sets_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> table_;
};

}  // namespace monet::fusion
