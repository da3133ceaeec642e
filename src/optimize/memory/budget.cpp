#include "optimize/memory/budget.h"

#include "base/prefixes.h"
#include "base/suggest.h"
#include "base/try.h"
#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace monet {

namespace {

// The number before `suffix`; nothing: the text does not end with it, or is no number.
std::optional<double> number_before(const std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size() - suffix.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

}  // namespace

Expected<std::int64_t> bytes_from(const std::string& text, const std::string& option) {
  const auto wrong = [&](const std::string& message) {
    return Error{.message = message, .place = option, .advice = "give bytes, or a size as in 512KiB or 1.5GiB"};
  };
  const auto quantity = parse_quantity(text);
  if (!quantity) return wrong(quantity.error().message);
  double bytes = quantity->value;
  if (!quantity->dimension.is_number()) {
    const auto bits = convert(*quantity, Measure::size, 0);
    if (!bits) return wrong(bits.error().message);
    bytes = *bits / 8;
  }
  if (!(bytes >= 0) || bytes > 0x1p60 || bytes != std::floor(bytes))
    return wrong(fmt::format("'{}' is not a whole number of bytes from 0 to 2^60", text));
  return static_cast<std::int64_t>(bytes);
}

Expected<MemoryBudget> memory_budget_from(const std::string& text, const Hardware& hardware) {
  MemoryBudget budget;
  std::string amount = text;
  if (const auto equals = text.find('='); equals != std::string::npos) {
    const std::string name = text.substr(0, equals);
    amount = text.substr(equals + 1);
    const auto found = std::ranges::find(hardware.memories, name, &Memory::name);
    if (found == hardware.memories.end()) {
      std::vector<std::string> names;
      for (const Memory& memory : hardware.memories) names.push_back(memory.name);
      const std::string guess = nearest(name, names);
      return Error{.message = fmt::format("{} has no memory '{}'", hardware.name, name),
                   .place = "--memory-budget",
                   .advice = guess.empty() ? fmt::format("it has {}", fmt::join(names, ", "))
                                           : fmt::format("did you mean '{}'?", guess)};
    }
    budget.memory = MemoryId(static_cast<std::size_t>(found - hardware.memories.begin()));
  }
  if (const auto percent = number_before(amount, "%")) {
    if (!(*percent > 0) || *percent > 1000)
      return Error{.message = fmt::format("{} is no share", amount),
                   .place = "--memory-budget",
                   .advice = "give a share above 0%, as in 80%"};
    budget.share = *percent / 100;
    return budget;
  }
  // So little is no budget of a step: a share or a larger unit is meant.
  constexpr double least = 1024;
  if (const auto bare = number_before(amount, ""); bare && *bare >= 1 && *bare < least && *bare == std::floor(*bare)) {
    return Error{.message = fmt::format("'{}' without a unit would be {} bytes", amount, amount),
                 .place = "--memory-budget",
                 .advice = fmt::format("write {0}%, {0}MiB or {0}B", amount)};
  }
  MONET_TRY(budget.bytes, bytes_from(amount, "--memory-budget"));
  return budget;
}

Expected<double> deadline_from(const std::string& text, double base, double clock_hz) {
  const auto wrong = [&](const std::string& message) {
    return Error{.message = message,
                 .place = "--deadline",
                 .advice = "give a multiple as in 1.5x, a time as in 20ms, or cycles as in '3e6 cycle'"};
  };
  if (const auto factor = number_before(text, "x")) {
    if (!(*factor > 0) || !std::isfinite(*factor)) return wrong(fmt::format("'{}' is no multiple above 0", text));
    return *factor * base;
  }
  const auto quantity = parse_quantity(text);
  if (!quantity) return wrong(quantity.error().message);
  if (quantity->dimension.is_number()) return wrong(fmt::format("'{}' has no unit", text));
  const auto cycles = convert(*quantity, Measure::time, clock_hz);
  if (!cycles) return wrong(cycles.error().message);
  if (!(*cycles > 0) || !std::isfinite(*cycles)) return wrong(fmt::format("'{}' is no time above 0", text));
  return *cycles;
}

std::int64_t Budgets::bytes(std::int64_t without) const {
  if (!home) return capacity_bytes;
  if (home->share == 0) return home->bytes;
  return static_cast<std::int64_t>(std::floor(home->share * static_cast<double>(without)));
}

std::vector<std::string> Budgets::warnings(std::int64_t budget_bytes) const {
  if (budget_bytes <= capacity_bytes) return {};
  return {fmt::format("the budget of {} is more than {} holds: {}", byte_size(budget_bytes), hardware[memory].name,
                      byte_size(capacity_bytes))};
}

Expected<Budgets> budgets_from(const std::vector<std::string>& texts, Hardware hardware) {
  Budgets result;
  std::vector<MemoryBudget> budgets;
  for (const std::string& text : texts) {
    MONET_TRY(const MemoryBudget budget, memory_budget_from(text, hardware));
    budgets.push_back(budget);
  }
  const RoutedMachine machine(hardware);
  MONET_RETURN_IF_ERROR(machine.check());
  for (std::size_t m = hardware.memories.size(); m-- > 0;) {
    if (machine.is_home(MemoryId(m))) result.memory = MemoryId(m);
  }
  for (const MemoryBudget& budget : budgets) {
    if (budget.memory.valid() && machine.is_home(budget.memory)) result.memory = budget.memory;
  }
  result.hardware = hardware;
  for (const MemoryBudget& budget : budgets) {
    const std::string name = budget.memory.valid() ? hardware[budget.memory].name : "";
    if (!budget.memory.valid() || machine.is_home(budget.memory)) {
      if (result.home) {
        return Error{.message = "there are two budgets for the memory that the step's data are in",
                     .place = "--memory-budget",
                     .advice = "give one; others may be for the memories of cores"};
      }
      result.home = budget;
    } else if (hardware[budget.memory].kind == MemoryKind::storage) {
      return Error{.message = fmt::format("{} is where tensors are paged to", name),
                   .place = "--memory-budget",
                   .advice = "give a budget for a memory that they are paged out of"};
    } else if (budget.share > 0) {
      return Error{.message = fmt::format("a share says nothing about {}", name),
                   .place = "--memory-budget",
                   .advice = "give a size: the memories of cores are filled as far as they go"};
    } else {
      // Never filled above what it holds.
      std::int64_t& bits = result.hardware.memories[budget.memory.index()].size_bits;
      if (budget.bytes >= bits / 8) continue;
      bits = 8 * budget.bytes;
      result.notes.push_back(
          fmt::format("plans are for a machine whose {} holds {}: on the one given, `monet evaluate` takes them with "
                      "--force and they may come out otherwise",
                      name, byte_size(budget.bytes)));
    }
  }
  result.capacity_bytes = machine.capacity_bytes(result.memory);
  return result;
}

}  // namespace monet
