#include "base/try.h"
#include "cli/command.h"
#include "hardware/units.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

namespace monet::cli {

namespace {

// "1048576" or "1MiB"
Expected<std::int64_t> bytes_of(const std::string& text) {
  const auto wrong = [&](const std::string& message) {
    return Error{.message = message, .place = "--capacity", .advice = "give bytes, or a size as in 512KiB or 1.5GiB"};
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

Status write(const Packing& packing, const std::string& path) {
  std::ofstream file(path);
  file << to_csv(packing);
  file.flush();
  if (file) return Done{};
  return Error{.message = "cannot be written", .place = path, .advice = "give another path to -o"};
}

Expected<PackOptions> options_of(const PackCommand& command) {
  PackOptions options{.time_limit_s = command.time_limit_s};
  if (command.time_limit_s && !(*command.time_limit_s > 0))
    return Error{.message = fmt::format("{} s is no time", *command.time_limit_s),
                 .place = "--time-limit",
                 .advice = "give seconds above 0"};
  if (!command.capacity.empty()) {
    MONET_TRY(options.capacity, bytes_of(command.capacity));
  }
  return options;
}

}  // namespace

int run(const PackCommand& command) {
  const auto options = options_of(command);
  if (!options) return report(options.error());
  const auto packing = pack_file(command.file, *options);
  if (!packing) return report(packing.error());
  report({}, packing->notes, command.common);
  if (packing->placed && !command.output.empty()) {
    if (const Status written = write(*packing, command.output); !written) return report(written.error());
  }
  const int status = print(command.common.json ? to_json(*packing) + "\n" : to_text(*packing));
  if (status != 0) return status;
  return packing->placed ? 0 : report(does_not_fit(*packing));
}

}  // namespace monet::cli
