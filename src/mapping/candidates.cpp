#include "mapping/candidates.h"

#include <algorithm>
#include <bit>

namespace monet {

namespace {

constexpr std::size_t depths = max_factors + 1;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32U);
}

std::uint64_t mixed(std::uint64_t hash, double value) { return mixed(hash, std::bit_cast<std::uint64_t>(value)); }

}  // namespace

void CandidateTable::clear(std::size_t loops) {
  loops_ = loops;
  count_ = 0;
  if (slots_.empty()) {
    slots_.resize(slots);
    spare_.resize(max_frame_operands * depths);
  }
  if (++generation_ == 0) {
    std::ranges::fill(slots_, Slot{});
    generation_ = 1;
  }
}

const Candidate* CandidateTable::known_or_new(const Key& key, Candidate*& made) {
  const std::uint64_t place = std::uint64_t{key.operand} * depths + key.depth;
  std::uint64_t hash = mixed(mixed(place, key.product), key.idle);
  for (std::size_t i = 0; i < loops_; ++i) hash = mixed(hash, key.most[i]);
  std::size_t slot = hash % slots;
  for (; slots_[slot].generation == generation_; slot = (slot + 1) % slots) {
    if (slots_[slot].hash != hash) continue;
    const Entry& entry = *entries_[slots_[slot].entry];
    if (entry.place == place && entry.product == key.product && entry.idle == key.idle &&
        std::equal(key.most, key.most + loops_, entry.most.begin())) {
      return &entry.candidate;
    }
  }
  if (count_ == most_entries) {
    std::unique_ptr<Candidate>& spare = spare_[place];
    if (!spare) spare = std::make_unique<Candidate>();
    made = spare.get();
    return nullptr;
  }
  if (count_ == entries_.size()) entries_.push_back(std::make_unique<Entry>());
  Entry& entry = *entries_[count_];
  entry.place = place;
  entry.product = key.product;
  entry.idle = key.idle;
  std::copy_n(key.most, loops_, entry.most.begin());
  slots_[slot] = {generation_, static_cast<std::uint32_t>(count_++), hash};
  made = &entry.candidate;
  return nullptr;
}

}  // namespace monet
