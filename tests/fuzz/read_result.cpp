// Whatever the text, reading it as a result ends with one or with an error; what was read compares with itself without
// a change; and its page holds it.
#include "present/compare/comparison.h"
#include "present/page/page.h"
#include "present/page/page_plans.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace monet;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

void fail_on_defect(const Error& error) {
  if (error.kind == ErrorKind::defect) fail(error.text());
}

void compare_with_itself(const ResultFile& file) {
  const auto comparison = compare_files(file, file);
  if (!comparison) return fail_on_defect(comparison.error());
  for (const ComparisonRow& row : comparison->rows) {
    if (row.delta != 0) fail(row.name() + " differs from itself");
  }
  to_text(*comparison);
  to_csv(*comparison);
  if (const auto status = check_json_object(to_json(*comparison), "comparison"); !status) fail(status.error().text());
}

void make_page(const ResultFile& file) {
  PageContent content{.title = file.command, .evaluations = {{file.path, file.text, file.text}}};
  if (const auto plans = plans_of_file(file)) content.plans = *plans;
  const auto page = page_of(content, "/*DATA*/");
  if (!page) fail(page.error().text());
  if (page->find('<') != std::string::npos) fail("the page is broken out of: " + *page);
  // One level deeper than the file.
  if (const auto status = check_json_object(*page, "page");
      !status && status.error().message.find("deeper") == std::string::npos)
    fail(status.error().text() + "\n" + *page);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file =
      result_from(std::string_view(reinterpret_cast<const char*>(data), size), "no_such_folder/fuzz.json");
  if (!file) {
    fail_on_defect(file.error());
    return 0;
  }
  compare_with_itself(*file);
  make_page(*file);
  return 0;
}
