#include "base/read_file.h"
#include "base/try.h"
#include "present/compare/comparison.h"
#include "present/compare/result_file.h"
#include "present/page/exploration_page.h"
#include "present/page/page.h"
#include "present/page/page_plans.h"

#include <monet/report.h>

#include <fmt/format.h>

#include <filesystem>

namespace monet {

namespace {

namespace fs = std::filesystem;

std::string name_of(const FileJson& result) {
  const auto text = [&](const char* key, const char* otherwise) {
    const auto found = result.find(key);
    return found != result.end() && found->is_string() ? found->get<std::string>() : std::string(otherwise);
  };
  return fmt::format("{} on {}", text("model", "a network"), text("hardware", "a machine"));
}

bool is_store(const std::string& path) {
  constexpr std::string_view beginning = "SQLite format 3";
  const auto found = read_range(path, 0, beginning.size());
  return found && *found == beginning;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// `explore -o DIR` leaves the name of its store, as it was given then.
Expected<std::string> store_of_folder(const std::string& folder) {
  const std::string front = fs::path(folder) / "front.json";
  MONET_TRY(const ResultFile file, read_result(front));
  MONET_TRY(const std::string store, ResultFields(file.json, file.path).text_or("store", ""));
  const fs::path name = store, here = folder;
  for (const fs::path& path : {name, here / name, here.lexically_normal().parent_path() / name, here / name.filename(),
                               here.lexically_normal().parent_path() / name.filename()}) {
    if (!store.empty() && is_there(path) && is_store(path)) return path.string();
  }
  return Error{.message = store.empty() ? "it does not say which store it was made of"
                                        : fmt::format("the store '{}' that it was made of is not here", store),
               .place = front,
               .advice = "give the store itself: monet report STORE"};
}

// A store, or the file of a result.
Expected<std::string> input_file(const std::string& input) {
  if (!is_there(input))
    return Error{.message = "there is no such file or folder",
                 .place = input,
                 .advice = "give a folder that monet wrote with -o, its result.json, or a store of monet explore"};
  std::error_code ignored;
  const fs::path folder = input;
  if (!fs::is_directory(folder, ignored) || is_there(folder / "result.json")) return input;
  if (is_there(folder / "front.json")) return store_of_folder(input);
  if (is_there(folder / "comparison.json")) return (folder / "comparison.json").string();
  return input;
}

Expected<PageEvaluation> evaluation_of(const ResultFile& file, const std::string& name) {
  if (file.folder.empty()) return PageEvaluation{.name = name, .result = file.text, .details = file.details};
  MONET_TRY(std::optional<std::string> details, read_details(file.folder));
  return PageEvaluation{.name = name, .result = file.text, .details = details.value_or("")};
}

// What a page cannot do without.
Status check_precisions(const ResultFile& file) {
  const ResultFields fields(file.json, file.path);
  MONET_TRY(const std::vector<ResultFields> rows, fields.objects("rows"));
  if (rows.empty())
    return Error{.message = "there is no recipe in it (\"rows\")",
                 .place = file.path,
                 .advice = "make it again with monet precision compare"};
  for (const ResultFields& row : rows) {
    MONET_RETURN_IF_ERROR(row.text_or("recipe", ""));
    for (const char* key : {"latency_s", "energy_pj", "peak_bytes"}) MONET_RETURN_IF_ERROR(row.number_or(key, 0));
  }
  return Done{};
}

Expected<PageContent> content_of(const ResultFile& file) {
  PageContent content{.title = name_of(file.json)};
  if (file.command == "evaluate") {
    MONET_TRY(const ResultFacts facts, facts_of(file));  // what a page cannot do without
    MONET_TRY(PageEvaluation evaluation, evaluation_of(file, facts.name));
    content.evaluations.push_back(std::move(evaluation));
    return content;
  }
  if (file.command == "optimize" || file.command == "checkpoint") {
    MONET_TRY(content.plans, plans_of_file(file));
    return content;
  }
  if (file.command == "precision compare") {
    MONET_RETURN_IF_ERROR(check_precisions(file));
    content.precisions = file.text;
    return content;
  }
  return Error{.message = fmt::format("there is no report of `monet {}`", file.command),
               .place = file.path,
               .advice = "give a folder of evaluate, optimize, checkpoint, explore or precision compare, or a store"};
}

Expected<PageContent> content_of(const ResultFile& a, const ResultFile& b) {
  MONET_TRY(const Comparison comparison, compare_files(a, b));
  PageContent content{.title = fmt::format("{} and {}", comparison.a, comparison.b), .comparison = to_json(comparison)};
  MONET_TRY(PageEvaluation of_a, evaluation_of(a, comparison.a));
  MONET_TRY(PageEvaluation of_b, evaluation_of(b, comparison.b));
  content.evaluations = {std::move(of_a), std::move(of_b)};
  return content;
}

Expected<PageContent> content_of(const std::vector<NamedResult>& results, const std::vector<std::string>& objectives) {
  const std::string place = "monet report";
  if (results.empty() || results.size() > 2)
    return Error{.message = fmt::format("{} inputs; one is shown, or two are compared", results.size()),
                 .place = place,
                 .advice = "give one or two"};
  std::vector<NamedResult> files = results;
  for (NamedResult& file : files) {
    if (!file.result.empty()) continue;
    MONET_TRY(file.name, input_file(file.name));
  }
  const auto is_in_store = [](const NamedResult& file) { return file.result.empty() && is_store(file.name); };
  const bool stored = is_in_store(files[0]) || is_in_store(files.back());
  if (stored && files.size() == 2)
    return Error{.message = "two evaluations are compared, not stores",
                 .place = place,
                 .advice = "give one store, or two folders of monet evaluate -o"};
  if (stored) return content_of_store(files[0].name, objectives);
  if (!objectives.empty())
    return Error{
        .message = "this is no store: there is nothing to choose", .place = "--objectives", .advice = "leave it out"};
  MONET_TRY(const ResultFile first, read_result(files[0]));
  if (files.size() == 1) return content_of(first);
  MONET_TRY(const ResultFile second, read_result(files[1]));
  return content_of(first, second);
}

}  // namespace

Expected<std::string> report_page(const ReportOptions& options) {
  std::vector<NamedResult> results;
  for (const std::string& input : options.inputs) results.push_back({.name = input, .result = {}, .details = {}});
  return report_page(results, options.title, options.objectives);
}

Expected<std::string> report_page(const std::vector<NamedResult>& results, const std::string& title,
                                  const std::vector<std::string>& objectives) {
  MONET_TRY(PageContent content, content_of(results, objectives));
  if (!title.empty()) content.title = title;
  return page_of(content);
}

Expected<std::string> report_page(const Evaluation& evaluation) {
  const std::string name = fmt::format("{} on {}", evaluation.model, evaluation.hardware);
  return page_of({.title = name,
                  .evaluations = {{.name = name, .result = to_json(evaluation), .details = to_details(evaluation)}}});
}

Expected<std::string> report_page(const Optimization& optimization) {
  return page_of(
      {.title = fmt::format("{} on {}", optimization.model, optimization.hardware), .plans = plans_of(optimization)});
}

Expected<std::string> report_page(const Checkpointing& checkpointing) {
  return page_of({.title = fmt::format("{} on {}", checkpointing.model, checkpointing.hardware),
                  .plans = plans_of(checkpointing)});
}

Expected<std::string> report_page(const PrecisionComparison& comparison) {
  return page_of(
      {.title = fmt::format("{} on {}", comparison.model, comparison.hardware), .precisions = to_json(comparison)});
}

}  // namespace monet
