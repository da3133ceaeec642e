// What it costs to move data: accesses at both ends, links, wires.
#pragma once

#include "evaluate/account/step.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace monet {

// Through a port one way: only whole pieces move (what one access moves at least; storage: a page), and a whole word
// costs the energy of an access.
struct AccessPrice {
  double piece_bits = 1;
  double pj_per_bit = 0;

  double whole(double bits) const { return std::ceil(bits / piece_bits) * piece_bits; }
};

struct RoutePrice {
  AccessPrice read;   // at the source
  AccessPrice write;  // at the destination
  double link_pj_per_bit = 0;
  double from_wires_pj_per_bit = 0;  // of the source and
  double to_wires_pj_per_bit = 0;    // of the destination, each to what it feeds; 0 where the machine leaves them out

  // Data cross the wires of the memory that feeds the other, as in mappings: of home memory, whichever way they go.
  double wires_pj_per_bit(TransferKind kind) const {
    return kind == TransferKind::write_back || kind == TransferKind::page_out ? to_wires_pj_per_bit
                                                                              : from_wires_pj_per_bit;
  }
};

// By route. A route's ends are accessed through the ports that are among its channels, else those that a core uses for
// data from and to what is above, else the first that can.
std::vector<RoutePrice> route_prices(const Hardware& hardware, const Schedule& schedule);

// All of one transfer. One that joined another pays for writing at its destination alone.
double transfer_pj(const RoutePrice& price, const ScheduledTransfer& transfer);

// By route: what a tile that streams pays for its links a bit beside what its mapping has counted, which knows only the
// link of its level.
std::vector<double> streaming_link_pj(const Hardware& hardware, const Schedule& schedule);
double streamed_pj(std::span<const double> link_pj, const ScheduledTile& tile, const TileCost& cost);

// A link in use costs by the cycle as long as its full width takes for these bits.
double link_pj_per_bit(const Link& link);

// Of all parts of the machine, every instance of each; 0 where the machine leaves static energy out.
double static_w(const Hardware& hardware);
double static_pj(const Hardware& hardware, double cycles);

}  // namespace monet
