#include "evaluate/schedule/room.h"

#include <algorithm>

namespace monet {

void Room::Block::add_up() {
  sum = 0;
  most = changes.front().bytes;
  for (const Change& change : changes) {
    sum += change.bytes;
    most = std::max(most, sum);
  }
}

std::optional<Room::Moment> Room::find(std::int64_t bytes) const {
  if (!capacity_) return Moment{};
  const std::int64_t limit = *capacity_ - held_ - bytes;
  if (taken_ > limit) return std::nullopt;
  // Back in time, to the last moment at which there is too much.
  std::int64_t after = taken_;
  const Change* next = nullptr;
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    const Block& block = blocks_[b];
    const std::int64_t before = after - block.sum;
    if (before + block.most <= limit) {
      after = before;
      next = &block.changes.front();
      continue;
    }
    for (std::size_t i = block.changes.size(); after <= limit;) {
      next = &block.changes[--i];
      after -= next->bytes;
    }
    return next->moment;
  }
  return Moment{};
}

void Room::insert(const Change& change) {
  taken_ += change.bytes;
  if (blocks_.empty()) blocks_.emplace_back();
  // Of what changes at one moment, what is given back comes first.
  const auto before = [&](const Change& other) {
    return other.moment.at < change.moment.at || (other.moment.at == change.moment.at && change.bytes > 0);
  };
  std::size_t b = blocks_.size() - 1;
  while (b > 0 && !before(blocks_[b].changes.front())) --b;
  std::vector<Change>& changes = blocks_[b].changes;
  changes.insert(std::partition_point(changes.begin(), changes.end(), before), change);
  if (changes.size() > block_size) {
    const auto half = changes.begin() + static_cast<std::ptrdiff_t>(block_size / 2);
    Block second{.changes = {half, changes.end()}};
    changes.erase(half, changes.end());
    second.add_up();
    blocks_[b].add_up();
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b) + 1, std::move(second));
  } else {
    blocks_[b].add_up();
  }
}

void Room::begin(std::int64_t bytes, double start) {
  held_ -= bytes;
  if (capacity_ && bytes > 0) insert({.moment = {.at = start}, .bytes = bytes});
}

void Room::give_back(std::int64_t bytes, const Moment& moment) {
  if (capacity_ && bytes > 0) insert({.moment = moment, .bytes = -bytes});
}

}  // namespace monet
