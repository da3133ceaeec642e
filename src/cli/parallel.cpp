#include "base/quantities.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "optimize/memory/budget.h"

#include <ostream>

namespace monet::cli {

namespace {

Expected<ParallelSearchOptions> options_of(const ParallelCommand& command) {
  ParallelSearchOptions options = command.options;
  MONET_RETURN_IF_ERROR(command.on.put_into(options.step));
  if (!command.memory.empty()) {
    MONET_TRY(options.memory_bytes, bytes_from(command.memory, "--memory-budget"));
  }
  if (!command.deadline.empty()) {
    // A time in cycles of one per nanosecond; multiples of what is not known yet are none.
    MONET_TRY(const double cycles, deadline_from(command.deadline, 0, 1e9));
    if (!(cycles > 0))
      return Error{.message = "a deadline is a time", .place = "--deadline", .advice = "20s, or 500ms"};
    options.deadline_s = cycles * 1e-9;
  }
  return options;
}

}  // namespace

int run(const ParallelCommand& command) {
  auto options = options_of(command);
  if (!options) return report(options.error());
  options->stop = stop_on_interrupt();
  const bool watched = is_watched(command.common);
  if (watched) options->progress = show_progress;
  const auto result = search_parallel(command.model, *options);
  if (watched) clear_progress();
  if (!result) return report(result.error());
  std::vector<std::string> warnings;
  if (!result->complete) warnings.emplace_back("ended early: this is the best of the settings so far");
  report(warnings, result->notes, command.common);
  if (!command.rejected.empty()) {
    if (const int status = write_file(command.rejected, [&](std::ostream& out) { out << result->rejected_csv; });
        status != 0)
      return status;
  }
  if (result->feasible && !command.output.empty()) {
    if (const int status = write_file(command.output, [&](std::ostream& out) { out << result->plan_yaml; });
        status != 0)
      return status;
  }
  const int status = command.common.json ? print_json(to_json(*result)) : print(to_text(*result));
  if (status != 0 || result->feasible) return status;
  return report(Error{.kind = ErrorKind::infeasible,
                      .message = "no setting fits and meets the deadline",
                      .place = "--chips",
                      .advice = "the reasons are above: more chips, a smaller batch or another deadline"});
}

}  // namespace monet::cli
