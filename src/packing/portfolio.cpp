#include "packing/portfolio.h"

#include "packing/order.h"

#include <algorithm>
#include <iterator>

namespace monet::packing {

namespace {

// How luck falls is decided early: short runs of many kinds find most packings, and what they leave is worth more.
constexpr std::int64_t first_run_work = std::int64_t{1} << 20;
constexpr std::int64_t growth = 4;
constexpr std::size_t kinds = std::size(order_kinds) + 1;  // the last goes by where the others failed

class Portfolio {
 public:
  Portfolio(const Problem& problem, std::int64_t capacity, SearchLimit& limit, Offsets& found)
      : problem_(problem), capacity_(capacity), limit_(limit), found_(found) {
    weights_.assign(static_cast<std::size_t>(problem.sections()), 0);
  }

  Outcome run() {
    for (std::int64_t work = first_run_work;; work *= growth) {
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        if (limit_.reached()) return Outcome::gave_up;
        const Outcome outcome = run(kind, std::min(work, limit_.work));
        if (outcome != Outcome::gave_up) return outcome;
      }
    }
  }

 private:
  Outcome run(std::size_t kind, std::int64_t work) {
    const bool by_failures = kind == std::size(order_kinds);
    Search search(problem_, by_failures ? weighted_order(problem_, weights_) : order_of(problem_, order_kinds[kind]));
    SearchLimit part{.work = work, .deadline = limit_.deadline, .stop = limit_.stop};
    const Outcome outcome = search.run(capacity_, part);
    limit_.work -= work - part.work;
    for (std::size_t s = 0; s < weights_.size(); ++s) {
      weights_[s] += static_cast<double>(search.failures()[s]);
      if (by_failures) weights_[s] /= 2;  // what failed lately counts more
    }
    if (outcome == Outcome::found) {
      found_.offset = search.offsets();
      found_.peak = 0;
      for (std::size_t i = 0; i < found_.offset.size(); ++i)
        found_.peak = std::max(found_.peak, found_.offset[i] + problem_.size[i]);
    }
    return outcome;
  }

  const Problem& problem_;
  std::int64_t capacity_;
  SearchLimit& limit_;
  Offsets& found_;
  std::vector<double> weights_;  // by section
};

}  // namespace

Outcome find_packing(const Problem& problem, std::int64_t capacity, SearchLimit& limit, Offsets& found) {
  return Portfolio(problem, capacity, limit, found).run();
}

}  // namespace monet::packing
