// How much of every channel is taken when. Work is booked on all channels of a route at once, from a moment on, at
// whatever share of the narrowest is left: an earlier booking is never disturbed. So what is less
// urgent is booked aside: it leaves a part of a channel to others, as an arbiter would.
#pragma once

#include "evaluate/machine/machine.h"

#include <limits>
#include <span>
#include <vector>

namespace monet {

class Bookings {
 public:
  explicit Bookings(std::span<const Channel> channels);

  // Between these moments nothing is left for what always takes the same channels at the same speed. Bookings only
  // become more, so it need not be looked at again.
  struct Full {
    double from = 0, to = 0;
  };

  // An activity of `amount` units at no more than `speed` a cycle, from `start` on; a unit takes `share` bits of each
  // of the channels, each of which is listed once. When it is done; with `begin` also when it gets going.
  double book(std::span<const ChannelUse> uses, double start, double amount, double speed, double* begin = nullptr,
              Full* full = nullptr) {
    return run(uses, start, amount, speed, true, begin, full);
  }
  // The same, without booking.
  double probe(std::span<const ChannelUse> uses, double start, double amount, double speed, Full* full = nullptr) {
    return run(uses, start, amount, speed, false, nullptr, full);
  }

  // A core's work takes so many bits a cycle of a channel when it runs. What is booked aside leaves it as much of it,
  // up to half of the channel. Before anything is booked.
  void reserve(std::size_t channel, double bits_per_cycle);
  double book_aside(std::span<const ChannelUse> uses, double start, double amount, double speed, double* begin,
                    Full* full = nullptr) {
    return run(aside(uses), start, amount, speed, true, begin, full);
  }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;
  // The channels, and of those that are reserved in part the rest of them.
  std::span<const ChannelUse> aside(std::span<const ChannelUse> uses);
  // From `at` on, until the next, `free` bits a cycle are left.
  struct Piece {
    double at;
    double free;
  };
  std::size_t piece_at(std::size_t channel, double time) const;
  void take(std::size_t channel, double from, double to, double rate);
  double run(std::span<const ChannelUse> uses, double start, double amount, double speed, bool booked, double* begin,
             Full* full);

  std::vector<std::vector<Piece>> pieces_;
  std::vector<double> width_;
  std::vector<std::uint32_t> rest_;  // by channel: another one, as wide as what is booked aside may take of it
  std::vector<ChannelUse> aside_;
  struct Taken {
    double from, to, speed;
  };
  std::vector<Taken> taken_;
  struct Front {
    const Piece* piece;
    const Piece* end;
    double share, rate, until;
    void look() {
      rate = piece->free <= 0 ? 0 : piece->free / share;
      until = piece + 1 < end ? piece[1].at : std::numeric_limits<double>::infinity();
    }
    // To the piece that holds `now`, which does not lie before this one.
    void advance_to(double now);
  };
  std::vector<Front> fronts_;
};

}  // namespace monet
