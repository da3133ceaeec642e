#include "base/try.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "config/units.h"

#include <fmt/format.h>

#include <cmath>

namespace monet::cli {

namespace {

Expected<std::int64_t> bytes_of(const Quantity& quantity, const std::string& text, const std::string& option,
                                const std::string& advice) {
  const auto bits = convert(quantity, Measure::size, 0);
  if (!bits) return Error{.message = bits.error().message, .place = option, .advice = advice};
  const double bytes = *bits / 8;
  if (!(bytes >= 0) || bytes > 0x1p53 || bytes != std::floor(bytes))
    return Error{.message = fmt::format("'{}' is not a whole number of bytes from 0 to 2^53", text),
                 .place = option,
                 .advice = advice};
  return static_cast<std::int64_t>(bytes);
}

Expected<std::int64_t> size_of(const std::string& text, const std::string& option) {
  const std::string advice = "give a size, as in 512B or 2MiB";
  const auto quantity = parse_quantity(text);
  if (!quantity) return Error{.message = quantity.error().message, .place = option, .advice = advice};
  return bytes_of(*quantity, text, option, advice);
}

Status read_budget(const std::string& text, RematOptions& options) {
  const std::string option = "--budget", advice = "give a part of the peak, as in 0.9, or a size, as in 5000B or 2MiB";
  const auto quantity = parse_quantity(text);
  if (!quantity) return Error{.message = quantity.error().message, .place = option, .advice = advice};
  if (!quantity->dimension.is_number()) {
    MONET_TRY(options.budget_bytes, bytes_of(*quantity, text, option, advice));
    return Done{};
  }
  if (!(quantity->value > 0 && quantity->value <= 1))
    return Error{.message = fmt::format("'{}' is not a part from 0 to 1, and has no unit", text),
                 .place = option,
                 .advice = advice};
  options.budget_fraction = quantity->value;
  return Done{};
}

Status read_deadline(const std::string& text, RematOptions& options) {
  const auto wrong = [](const std::string& message) {
    return Error{.message = message,
                 .place = "--deadline",
                 .advice = "give a multiple of running each node once, as in 2x, or a time, as in 20ms"};
  };
  const bool factor = text.ends_with('x');
  const auto quantity = parse_quantity(factor ? text.substr(0, text.size() - 1) : text);
  if (!quantity) return wrong(quantity.error().message);
  const Dimension seconds{.second = 1};
  if (!quantity->dimension.is_number() && (factor || quantity->dimension != seconds))
    return wrong(fmt::format("'{}' is no time", text));
  if (!(quantity->value > 0) || quantity->value > 1e60) return wrong(fmt::format("'{}' is out of range", text));
  (factor ? options.deadline_factor : options.deadline) = quantity->value;
  return Done{};
}

Expected<RematOptions> options_of(const RematCommand& command) {
  RematOptions options = command.options;
  MONET_RETURN_IF_ERROR(read_budget(command.budget, options));
  if (!command.deadline.empty()) MONET_RETURN_IF_ERROR(read_deadline(command.deadline, options));
  if (!command.fixed.empty()) {
    MONET_TRY(options.fixed_bytes, size_of(command.fixed, "--fixed"));
  }
  if (!command.page.empty()) {
    MONET_TRY(options.page_bytes, size_of(command.page, "--page"));
    if (options.page_bytes < 1)
      return Error{.message = "a page has at least one byte", .place = "--page", .advice = "give a size, as in 512B"};
  }
  if (!(options.time_limit_s > 0))
    return Error{.message = fmt::format("{} s is no time", options.time_limit_s),
                 .place = "--time-limit",
                 .advice = "give seconds above 0"};
  return options;
}

}  // namespace

int run(const RematCommand& command) {
  auto options = options_of(command);
  if (!options) return report(options.error());
  options->stop = stop_on_interrupt();
  if (is_watched(command.common)) options->progress = [](const std::string& line) { show_progress(line, 0, 0); };
  const auto remat = remat_file(command.file, *options);
  clear_progress();
  if (!remat) return report(remat.error());
  report({}, remat->notes, command.common);
  if (remat->found() && !command.output.empty()) {
    if (const int status = write_text(command.output, schedule_json(*remat)); status != 0) return status;
  }
  const int status = command.common.json ? print_json(to_json(*remat)) : print(to_text(*remat));
  if (status != 0) return status;
  return remat->found() ? 0 : report(does_not_fit(*remat));
}

}  // namespace monet::cli
