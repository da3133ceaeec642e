// A chip's step as its network sees it: work, collectives that are issued, and what is waited for. Launches between two
// of these are one stretch of work, so that another setting of the same chip's step (other chips along an axis, another
// fabric, without overlap) is priced in microseconds.
#pragma once

#include "evaluate/kernels/kernel_network.h"

#include <cstdint>
#include <vector>

namespace monet {

struct ExchangeLine {
  enum class Kind : std::uint8_t { work, issue, wait };
  struct Item {
    Kind kind = Kind::work;
    std::uint32_t exchange = 0;  // that is issued, or waited for
    double us = 0;               // of work
  };
  // Collectives that cost the same.
  struct Class {
    std::string over;
    CollectiveKind kind = CollectiveKind::all_reduce;
    double bytes = 0;
  };
  struct Issued {
    std::uint32_t of = 0;                      // in classes
    std::uint32_t first_after = 0, after = 0;  // in `before`: collectives that must be done first
  };
  std::vector<Item> items;
  std::vector<Class> classes;
  std::vector<Issued> exchanges;
  std::vector<std::uint32_t> before;
};

// `costs`: of the launches that are no collectives.
ExchangeLine exchange_line(const Graph& graph, const LoweredStep& step, const StepCosts& costs);

// Of another setting, in µs: as times_of() has it. Keeps its memory between calls.
class LineTimes {
 public:
  explicit LineTimes(const ExchangeLine& line);
  // Fails where a group does not lie evenly on the fabric. Cost: linear in the items, whatever the chips.
  Expected<double> total_us(const ChipNetwork& network);

 private:
  double end_of(double start, double us);
  void wait(double end);

  const ExchangeLine& line_;
  std::vector<CollectivePrice> prices_;  // by class
  std::vector<double> shares_;           // of the chip, by class
  std::vector<double> start_, end_;      // by exchange
  std::vector<std::uint32_t> running_;   // issued, perhaps not done
  double now_ = 0;
};

}  // namespace monet
