#include "evaluate/kernels/exchange_line.h"

#include "base/try.h"
#include "evaluate/kernels/collective_price.h"

#include <algorithm>
#include <optional>

namespace monet {

namespace {

class LineWriter {
 public:
  LineWriter(const Graph& graph, const LoweredStep& step, const StepCosts& costs)
      : graph_(graph), step_(step), costs_(costs), made_(step.buffers.size()), read_(step.buffers.size()) {}

  ExchangeLine run() {
    for (std::size_t i = 0; i < step_.launches.size(); ++i) {
      const Launch& launch = step_.launches[i];
      find_blockers(launch);
      if (launch.collective) {
        issue(launch);
      } else {
        for (const std::uint32_t each : blockers_) wait(each);
        work(costs_.us[i]);
      }
    }
    return std::move(line_);
  }

 private:
  using Last = std::optional<std::uint32_t>;  // in line_.exchanges

  void find_blockers(const Launch& launch) {
    blockers_.clear();
    const auto offer = [&](const Last& last) {
      if (last && std::ranges::find(blockers_, *last) == blockers_.end()) blockers_.push_back(*last);
    };
    for (const Touch& each : launch.reads) offer(made_[each.buffer.index()]);
    for (const Touch& each : launch.writes) {
      offer(made_[each.buffer.index()]);
      offer(read_[each.buffer.index()]);
    }
  }

  void issue(const Launch& launch) {
    const auto index = static_cast<std::uint32_t>(line_.exchanges.size());
    const auto first = static_cast<std::uint32_t>(line_.before.size());
    line_.before.insert(line_.before.end(), blockers_.begin(), blockers_.end());
    line_.exchanges.push_back({class_of(graph_[launch.cause]), first, static_cast<std::uint32_t>(blockers_.size())});
    line_.items.push_back({ExchangeLine::Kind::issue, index, 0});
    waited_.push_back(false);
    for (const Touch& each : launch.reads) read_[each.buffer.index()] = index;
    for (const Touch& each : launch.writes) made_[each.buffer.index()] = index;
  }

  std::uint32_t class_of(const Node& node) {
    const PricedCollective what = described(graph_, node);
    const auto found = std::ranges::find_if(line_.classes, [&](const ExchangeLine::Class& each) {
      return each.over == what.over && each.kind == what.kind && each.bytes == what.bytes;
    });
    const auto index = static_cast<std::uint32_t>(found - line_.classes.begin());
    if (found == line_.classes.end()) line_.classes.push_back({what.over, what.kind, what.bytes});
    return index;
  }

  // What was waited for once is done.
  void wait(std::uint32_t exchange) {
    if (waited_[exchange]) return;
    waited_[exchange] = true;
    line_.items.push_back({ExchangeLine::Kind::wait, exchange, 0});
  }

  void work(double us) {
    if (line_.items.empty() || line_.items.back().kind != ExchangeLine::Kind::work)
      line_.items.push_back({ExchangeLine::Kind::work, 0, 0});
    line_.items.back().us += us;
  }

  const Graph& graph_;
  const LoweredStep& step_;
  const StepCosts& costs_;
  std::vector<Last> made_, read_;  // by buffer
  std::vector<std::uint32_t> blockers_;
  std::vector<bool> waited_;  // by exchange
  ExchangeLine line_;
};

}  // namespace

ExchangeLine exchange_line(const Graph& graph, const LoweredStep& step, const StepCosts& costs) {
  return LineWriter(graph, step, costs).run();
}

LineTimes::LineTimes(const ExchangeLine& line)
    : line_(line),
      prices_(line.classes.size()),
      shares_(line.classes.size()),
      start_(line.exchanges.size()),
      end_(line.exchanges.size()) {}

Expected<double> LineTimes::total_us(const ChipNetwork& network) {
  for (std::size_t i = 0; i < prices_.size(); ++i) {
    const ExchangeLine::Class& of = line_.classes[i];
    MONET_TRY(prices_[i], price_over(network, of.over, of.kind, of.bytes));
    shares_[i] = chip_share_of(network, prices_[i]);
  }
  std::array<double, max_fabric_levels> level_free{};
  running_.clear();
  now_ = 0;
  for (const ExchangeLine::Item& item : line_.items) {
    if (item.kind == ExchangeLine::Kind::work) {
      now_ = end_of(now_, item.us);
      continue;
    }
    if (item.kind == ExchangeLine::Kind::wait) {
      wait(end_[item.exchange]);
      continue;
    }
    const ExchangeLine::Issued& issued = line_.exchanges[item.exchange];
    const CollectivePrice& price = prices_[issued.of];
    double start = now_;
    for (std::uint32_t i = 0; i < issued.after; ++i)
      start = std::max(start, end_[line_.before[issued.first_after + i]]);
    for (std::size_t level = 0; level < max_fabric_levels; ++level) {
      if (price.level_seconds[level] > 0) start = std::max(start, level_free[level]);
    }
    start_[item.exchange] = start;
    end_[item.exchange] = start + price.seconds * 1e6;
    for (std::size_t level = 0; level < max_fabric_levels; ++level) {
      if (price.level_seconds[level] > 0) level_free[level] = end_[item.exchange];
    }
    running_.push_back(item.exchange);
    if (!network.overlap) wait(end_[item.exchange]);
  }
  for (const std::uint32_t exchange : running_) wait(end_[exchange]);
  return now_;
}

void LineTimes::wait(double end) { now_ = std::max(now_, end); }

double LineTimes::end_of(double start, double us) {
  std::erase_if(running_, [&](std::uint32_t exchange) { return end_[exchange] <= start; });
  double now = start, left = us;
  while (left > 0) {
    double share = 0, until = -1;
    for (const std::uint32_t exchange : running_) {
      if (end_[exchange] <= now) continue;
      const bool runs = start_[exchange] <= now;
      if (runs) share = std::max(share, shares_[line_.exchanges[exchange].of]);
      const double change = runs ? end_[exchange] : start_[exchange];
      if (until < 0 || change < until) until = change;
    }
    const double speed = 1 - share;
    if (until < 0 || now + left / speed <= until) return now + left / speed;
    left -= (until - now) * speed;
    now = until;
  }
  return now;
}

}  // namespace monet
