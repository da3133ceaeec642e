#include "cli/command.h"
#include "cli/files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace monet::cli {

namespace {

namespace fs = std::filesystem;

// In the folder that is shown, or beside the file; of two, here.
std::string own_name(const std::vector<std::string>& inputs) {
  if (inputs.size() > 1) return "comparison.html";
  const fs::path input = inputs.front();
  std::error_code ignored;
  if (fs::is_directory(input, ignored)) return input / "report.html";
  const bool result = input.extension() == ".json";
  return input.parent_path() / (result ? fs::path("report.html") : input.stem().replace_extension(".html"));
}

int say_where(const std::string& path, std::size_t bytes, const CommonOptions& common) {
  if (common.json) {
    const nlohmann::ordered_json json = {{"schema", 1}, {"command", "report"}, {"page", path}, {"bytes", bytes}};
    return print_json(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  return common.quiet ? 0 : print_file(path + "\n");
}

}  // namespace

int run(const ReportCommand& command) {
  ReportOptions options = command.options;
  options.inputs = {command.input};
  if (!command.second.empty()) options.inputs.push_back(command.second);
  const bool to_output = command.output == "-";
  if (to_output && command.common.json)
    return report(
        Error{.message = "-o - and --json do not go together", .place = "monet report", .advice = "leave one out"});
  const std::string output = command.output.empty() ? own_name(options.inputs) : command.output;
  if (!to_output) {
    if (const Status free = may_become_page(output); !free) return report(free.error());
  }
  const auto page = report_page(options);
  if (!page) return report(page.error());
  if (to_output) return print_file(*page);
  if (const int status = write_text(output, *page); status != 0) return status;
  return say_where(output, page->size(), command.common);
}

}  // namespace monet::cli
