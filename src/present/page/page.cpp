#include "present/page/page.h"

#include "present/json/json.h"

#include <monet/report.h>
#include <monet/version.h>

#include <fmt/format.h>

namespace monet {

namespace {

constexpr std::string_view mark = "/*DATA*/";

// Without blanks between values, and so that nothing in it can end the element it stands in.
void append_json(std::string& page, std::string_view json) {
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<') {
      page += "\\u003c";
    } else if (quoted && c == '\\') {
      page += c;
      if (++i < json.size()) page += json[i];
    } else if (quoted || (c != ' ' && c != '\n' && c != '\t' && c != '\r')) {
      if (c == '"') quoted = !quoted;
      page += c;
    }
  }
}

// The members of an object, each followed by a comma.
void append_members(std::string& page, std::string_view object) {
  const std::size_t first = object.find('{'), last = object.rfind('}');
  if (first == std::string_view::npos || last == std::string_view::npos || last <= first) return;
  const std::size_t before = page.size();
  append_json(page, object.substr(first + 1, last - first - 1));
  if (page.size() > before) page += ',';
}

void append_data(std::string& page, const PageContent& content) {
  const auto member = [&](const char* name, std::string_view json) {
    if (json.empty()) return;
    page += fmt::format(",\"{}\":", name);
    append_json(page, json);
  };
  page += fmt::format("{{\"schema\":1");
  member("program", json_text(fmt::format("monet {}", version)));
  member("title", json_text(content.title));
  page += ",\"evaluations\":[";
  for (std::size_t i = 0; i < content.evaluations.size(); ++i) {
    const PageEvaluation& evaluation = content.evaluations[i];
    page += i == 0 ? "{" : ",{";
    append_members(page, evaluation.details);
    page += "\"name\":";
    append_json(page, json_text(evaluation.name));
    member("result", evaluation.result);
    page += '}';
  }
  page += ']';
  member("comparison", content.comparison);
  member("plans", content.plans);
  member("exploration", content.exploration);
  member("precisions", content.precisions);
  page += '}';
}

std::size_t size_of(const PageContent& content) {
  std::size_t bytes = content.comparison.size() + content.plans.size() + content.exploration.size();
  bytes += content.precisions.size();
  for (const PageEvaluation& evaluation : content.evaluations)
    bytes += evaluation.result.size() + evaluation.details.size();
  return bytes;
}

}  // namespace

std::string json_text(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool has_report_page() { return !page_template().empty(); }

Expected<std::string> page_of(const PageContent& content) {
  if (!has_report_page())
    return Error{.message = "this build of monet has no report page", .advice = "install npm and build monet again"};
  return page_of(content, page_template());
}

Expected<std::string> page_of(const PageContent& content, std::string_view html) {
  const std::size_t at = html.find(mark);
  if (at == std::string_view::npos || html.find(mark, at + 1) != std::string_view::npos)
    return Error{.kind = ErrorKind::defect, .message = "the template of the page has not one place for data"};
  std::string page;
  page.reserve(html.size() + size_of(content) + 1024);
  page += html.substr(0, at);
  append_data(page, content);
  page += html.substr(at + mark.size());
  return page;
}

}  // namespace monet
