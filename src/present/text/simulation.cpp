#include "base/quantities.h"

#include <monet/simulate.h>
#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace monet {

namespace {

constexpr std::size_t averaged = 10;  // batches: one alone says little
constexpr std::size_t curve_columns = 32;

// The mean loss of the batches that end with step `last`, at most ten.
double mean_loss(const std::vector<double>& losses, std::size_t last) {
  if (last == 0 || last > losses.size()) return std::numeric_limits<double>::quiet_NaN();
  const std::size_t count = std::min(averaged, last);
  double sum = 0;
  for (std::size_t i = last - count; i < last; ++i) sum += losses[i];
  return sum / static_cast<double>(count);
}

std::string text_of(double value) { return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-"; }

// Each column the mean of its steps, between the ends of all curves.
std::string curve(const std::vector<double>& losses, std::int64_t steps, double low, double high) {
  static constexpr const char* bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t columns = std::min(curve_columns, static_cast<std::size_t>(steps));
  std::string text;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t first = column * static_cast<std::size_t>(steps) / columns;
    const std::size_t last = std::min((column + 1) * static_cast<std::size_t>(steps) / columns, losses.size());
    if (first >= last) break;
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += losses[i];
    const double part = high > low ? (sum / static_cast<double>(last - first) - low) / (high - low) : 0;
    text += bars[static_cast<std::size_t>(std::clamp(part * 8, 0.0, 7.0))];
  }
  return text;
}

// To the first: only what was trained for as many steps can be compared.
bool is_comparable(const Simulation& simulation, const Simulation& first) {
  return !simulation.diverged && !first.diverged && simulation.losses.size() == first.losses.size();
}

std::string difference(const Simulation& simulation, const Simulation& first) {
  const double now = simulation.last().loss, before = first.last().loss;
  const bool known = is_comparable(simulation, first) && std::isfinite(now) && std::isfinite(before);
  return known ? fmt::format("{:+.4f}", now - before) : "-";
}

std::optional<double> accuracy_of(const Simulation& simulation) {
  return simulation.diverged ? std::nullopt : simulation.last().accuracy;
}

std::string accuracy_text(const Simulation& simulation) {
  const auto accuracy = accuracy_of(simulation);
  return accuracy ? fmt::format("{:.1f} %", 100 * *accuracy) : "-";
}

std::string accuracy_difference(const Simulation& simulation, const Simulation& first) {
  const auto now = accuracy_of(simulation), before = accuracy_of(first);
  const bool known = is_comparable(simulation, first) && now && before;
  return known ? fmt::format("{:+.1f} %", 100 * (*now - *before)) : "-";
}

std::string end_of(const Simulation& simulation) {
  if (simulation.diverged) return fmt::format("diverged in step {}", simulation.losses.size() + 1);
  return simulation.stopped ? fmt::format("stopped after {} steps", simulation.losses.size()) : "";
}

std::string heading(const Simulation& first) {
  return fmt::format(
      "{}: {} parameters, {} steps of {} samples, {} with learning rate {}, {} loss, seed {}\n"
      "data: {}; a fifth is held out\n\n",
      first.model, grouped(first.parameters), grouped(first.steps), first.batch, first.optimizer, first.learning_rate,
      first.loss, first.seed, first.data);
}

}  // namespace

Text to_text(const std::vector<Simulation>& simulations) {
  if (simulations.empty()) return "";
  const Simulation& first = simulations.front();
  const auto steps = static_cast<std::size_t>(first.steps);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Simulation& simulation : simulations) {
    for (double loss : simulation.losses) low = std::min(low, loss), high = std::max(high, loss);
  }
  // A curve that leaves the picture shall not flatten the others.
  if (!first.losses.empty()) high = std::min(high, 2 * *std::ranges::max_element(first.losses));
  const bool classifies = std::ranges::any_of(
      simulations, [](const Simulation& simulation) { return simulation.measured.front().accuracy.has_value(); });
  using enum Table::Align;
  std::vector<Table::Column> columns = {{"precision"},
                                        {"loss at start", right},
                                        {fmt::format("step {}", std::max<std::size_t>(steps / 4, 1)), right},
                                        {fmt::format("step {}", std::max<std::size_t>(steps / 2, 1)), right},
                                        {fmt::format("step {}", steps), right},
                                        {"held-out loss", right},
                                        {"difference", right}};
  if (classifies) columns.insert(columns.end(), {{"accuracy", right}, {"difference", right}});
  columns.push_back({"loss, step by step"});
  columns.push_back({""});
  Table table(columns);
  for (const Simulation& simulation : simulations) {
    const std::vector<double>& losses = simulation.losses;
    const Measured& last = simulation.last();
    const bool reference = &simulation == &first;
    std::vector<std::string> cells = {simulation.precision,
                                      losses.empty() ? "-" : text_of(losses.front()),
                                      text_of(mean_loss(losses, std::max<std::size_t>(steps / 4, 1))),
                                      text_of(mean_loss(losses, std::max<std::size_t>(steps / 2, 1))),
                                      text_of(mean_loss(losses, steps)),
                                      simulation.diverged ? "-" : text_of(last.loss),
                                      reference ? "" : difference(simulation, first)};
    if (classifies) {
      cells.push_back(accuracy_text(simulation));
      cells.push_back(reference ? "" : accuracy_difference(simulation, first));
    }
    cells.push_back(curve(losses, first.steps, low, high));
    cells.push_back(end_of(simulation));
    table.add(std::move(cells));
  }
  return heading(first) + table +
         fmt::format(
             "\nLosses are means of the {} batches up to that step; curves run from {:.3g} to {:.3g}. A small "
             "task on a small network: compare precisions by it, and expect no figures of large ones.\n",
             averaged, low, high);
}

}  // namespace monet
