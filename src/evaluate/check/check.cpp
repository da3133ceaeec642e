#include "evaluate/check/check.h"

#include "evaluate/check/rules.h"

#include <fmt/format.h>

namespace monet {

namespace {

// 1234567 as 1,234,567.
std::string counted(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

// Gives the number of tiles whose elements were looked at.
std::size_t apply_rules(check::CheckContext& context) {
  check_form(context);
  if (context.findings.count() > 0) return 0;
  context.prepare();
  check_grids(context);
  if (context.findings.count() > 0) return 0;
  check_cores(context);
  check_order(context);
  const std::size_t by_element = check_elements(context);
  check_routes(context);
  const check::Holdings holdings(context);
  check_presence(context, holdings);
  check_transfers(context, holdings);
  check_channels(context);
  check_capacities(context);
  check_storage(context, holdings);
  check_paging(context);
  return by_element;
}

}  // namespace

CheckReport check_schedule(const Graph& graph, const Hardware& hardware, const Assignment& assignment,
                           const TileGraph& tiles, const Schedule& schedule, const CheckOptions& options) {
  check::Findings findings(options.keep);
  check::CheckContext context{.graph = graph,
                              .hardware = hardware,
                              .assignment = assignment,
                              .tiles = tiles,
                              .schedule = schedule,
                              .options = options,
                              .findings = findings};
  const std::size_t by_element = apply_rules(context);
  CheckReport report{.violations = findings.take(), .count = findings.count(), .looked_at = {}};
  report.looked_at =
      fmt::format("{} tiles ({} by element), {} reads, {} transfers, {} stays, {} channels", counted(tiles.tiles()),
                  counted(by_element), counted(tiles.reads.size()), counted(schedule.transfers.size()),
                  counted(schedule.stays.size() + schedule.home.size()), counted(schedule.channels.size()));
  return report;
}

Status verify_schedule(const Graph& graph, const Hardware& hardware, const Assignment& assignment,
                       const TileGraph& tiles, const Schedule& schedule, const CheckOptions& options) {
  const CheckReport report = check_schedule(graph, hardware, assignment, tiles, schedule, options);
  if (report.count == 0) return Done{};
  std::string message = report.violations.empty() ? "the schedule breaks its rules" : report.violations.front().what;
  if (report.count > 1) message += fmt::format(" (and {} more)", report.count - 1);
  return Error{.kind = ErrorKind::defect,
               .message = "the checker rejects the schedule: " + message,
               .place = {},
               .advice = "please report this with the network, the hardware and the plan"};
}

}  // namespace monet
