#include "cli/command.h"
#include "cli/files.h"

#include <filesystem>

namespace monet::cli {

namespace {

// Neither result may be written over.
Status keeps_results(const CompareCommand& command) {
  for (const std::string& input : {command.a, command.b}) {
    std::error_code ignored;
    const std::filesystem::path path = input;
    if (std::filesystem::equivalent(command.csv, path, ignored) ||
        std::filesystem::equivalent(command.csv, path / "result.json", ignored))
      return Error{.message = "this is one of the results", .place = command.csv, .advice = "write to another file"};
  }
  return may_become_page(command.output);
}

}  // namespace

int run(const CompareCommand& command) {
  if (const Status kept = keeps_results(command); !kept) return report(kept.error());
  const auto comparison = compare_results(command.a, command.b);
  if (!comparison) return report(comparison.error());
  report({}, comparison->notes, command.common);
  if (const int status = write_text(command.csv, to_csv(*comparison)); status != 0) return status;
  if (!command.output.empty()) {
    const auto page = report_page(ReportOptions{.inputs = {command.a, command.b}});
    if (!page) return report(page.error());
    if (const int status = write_text(command.output, *page); status != 0) return status;
  }
  return command.common.json ? print_json(to_json(*comparison)) : print(to_text(*comparison));
}

}  // namespace monet::cli
