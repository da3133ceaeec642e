#include "mapping/candidates.h"

#include <algorithm>

namespace monet {

namespace {

constexpr std::size_t depths = max_factors + 1;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32U);
}

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
  const std::uint64_t hash = mixed(mixed(key.extents + place, std::bit_cast<std::uint64_t>(key.product)),
                                   std::bit_cast<std::uint64_t>(key.idle));
  const auto upper = static_cast<std::uint32_t>(hash >> 32U);
  std::size_t slot = hash % slots;
  for (; slots_[slot].generation == generation_; slot = (slot + 1) % slots) {
    if (slots_[slot].hash != upper) continue;
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
  slots_[slot] = {generation_, static_cast<std::uint16_t>(count_++), upper};
  made = &entry.candidate;
  return nullptr;
}

}  // namespace monet
