#include "evaluate/schedule/bookings.h"

#include <algorithm>
#include <limits>

namespace monet {

namespace {

// Shares smaller than this of a channel are nothing: the rest of what rounding leaves.
constexpr double least_share = 1e-9;

}  // namespace

Bookings::Bookings(std::span<const Channel> channels) {
  for (const Channel& channel : channels) {
    pieces_.push_back({{-std::numeric_limits<double>::infinity(), channel.bits_per_cycle}});
    width_.push_back(channel.bits_per_cycle);
  }
  rest_.assign(channels.size(), none);
}

void Bookings::reserve(std::size_t channel, double bits_per_cycle) {
  const double left = std::max(width_[channel] / 2, width_[channel] - bits_per_cycle);
  if (left >= width_[channel]) return;
  if (rest_[channel] == none) {
    rest_[channel] = static_cast<std::uint32_t>(pieces_.size());
    pieces_.push_back({{-std::numeric_limits<double>::infinity(), left}});
    width_.push_back(left);
  }
  double& width = width_[rest_[channel]];
  width = std::min(width, left);
  pieces_[rest_[channel]].front().free = width;
}

std::span<const ChannelUse> Bookings::aside(std::span<const ChannelUse> uses) {
  if (width_.size() == rest_.size()) return uses;
  aside_.assign(uses.begin(), uses.end());
  for (const ChannelUse& use : uses) {
    if (rest_[use.channel] != none) aside_.emplace_back(rest_[use.channel], use.share);
  }
  return aside_;
}

std::size_t Bookings::piece_at(std::size_t channel, double time) const {
  const std::vector<Piece>& pieces = pieces_[channel];
  // Most questions are about the end.
  std::size_t last = pieces.size();
  while (last > 1 && pieces.size() - last < 8 && pieces[last - 1].at > time) --last;
  if (pieces[last - 1].at <= time) return last - 1;
  const auto after = std::upper_bound(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(last), time,
                                      [](double t, const Piece& piece) { return t < piece.at; });
  return static_cast<std::size_t>(after - pieces.begin()) - 1;
}

void Bookings::take(std::size_t channel, double from, double to, double rate) {
  std::vector<Piece>& pieces = pieces_[channel];
  std::size_t first = piece_at(channel, from);
  if (pieces[first].at < from) {
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(first) + 1, {from, pieces[first].free});
    ++first;
  }
  std::size_t last = first;  // the piece that begins at `to`
  while (last < pieces.size() && pieces[last].at < to) ++last;
  if (last == pieces.size() || pieces[last].at > to) {
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(last), {to, pieces[last - 1].free});
  }
  for (std::size_t i = first; i < last; ++i) {
    pieces[i].free -= rate;
    if (pieces[i].free < least_share * width_[channel]) pieces[i].free = 0;
  }
  // Neighbours that are equal now are one.
  const std::size_t begin = first == 0 ? 1 : first;
  std::size_t kept = begin;
  for (std::size_t i = begin; i <= last; ++i) {
    if (pieces[i].free == pieces[kept - 1].free) continue;
    pieces[kept++] = pieces[i];
  }
  if (kept <= last) {
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(kept),
                 pieces.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  }
}

void Bookings::Front::advance_to(double now) {
  if (until > now) return;
  std::ptrdiff_t stride = 1;
  while (stride < end - piece && piece[stride].at <= now) {
    piece += stride;
    stride *= 2;
  }
  const Piece* const last = piece + std::min(stride, end - piece);
  piece = std::upper_bound(piece + 1, last, now, [](double time, const Piece& next) { return time < next.at; }) - 1;
  look();
}

double Bookings::run(std::span<const ChannelUse> uses, double start, double amount, double speed, bool booked,
                     double* begin, Full* full) {
  taken_.clear();
  if (begin != nullptr) *begin = start;
  if (amount <= 0) return start;
  const bool inside = full != nullptr && full->from <= start && start < full->to;
  const double asked = inside ? full->from : start;
  if (inside) start = full->to;
  // Of each channel: the piece it is in, what is left there for each unit of the activity, and when the next begins.
  fronts_.clear();
  for (const ChannelUse& use : uses) {
    Front& front = fronts_.emplace_back();
    front.piece = pieces_[use.channel].data() + piece_at(use.channel, start);
    front.end = pieces_[use.channel].data() + pieces_[use.channel].size();
    front.share = use.share;
    front.look();
  }
  double now = start;
  double full_to = start;  // nothing is left from `start` until then
  bool begun = false;
  while (amount > 0) {
    double free = std::numeric_limits<double>::infinity();
    double until = std::numeric_limits<double>::infinity();
    double blocked = 0;  // until when nothing moves
    for (const Front& front : fronts_) {
      free = std::min(free, front.rate);
      until = std::min(until, front.until);
      if (front.rate <= least_share * speed) blocked = std::max(blocked, front.until);
    }
    const double rate = std::min(speed, free);
    double end = blocked;
    if (rate > least_share * speed) {
      if (!begun && begin != nullptr) *begin = now;
      begun = true;
      end = std::min(until, now + amount / rate);
      if (booked) taken_.push_back({now, end, rate});
      if (full_to == now && booked && rate >= free) full_to = end;
      if (end < until || until == std::numeric_limits<double>::infinity()) {
        now = end;
        break;
      }
      amount -= (end - now) * rate;
      if (amount <= least_share) amount = 0;
    }
    if (rate <= least_share * speed && full_to == now) full_to = end;
    now = end;
    for (Front& front : fronts_) front.advance_to(now);
  }
  if (full != nullptr && full_to > full->to) {
    *full = {asked <= full->to ? std::min(asked, full->from) : asked, full_to};
  }
  if (booked) {
    for (const Taken& taken : taken_) {
      if (taken.to <= taken.from) continue;
      for (const ChannelUse& use : uses) take(use.channel, taken.from, taken.to, taken.speed * use.share);
    }
  }
  return now;
}

}  // namespace monet
