// The page of a report: a template, built from web/ and part of the library, with JSON in its place. web/src/data.ts
// says what the JSON holds.
#pragma once

#include <monet/expected.h>

#include <string>
#include <string_view>
#include <vector>

namespace monet {

// Empty: this build has none. cmake/embed_page.cmake writes the definition.
std::string_view page_template();
// The page of `monet serve`, complete.
std::string_view serve_template();

// All texts but name and title are JSON, as one of our writers or a file that was checked has it.
struct PageEvaluation {
  std::string name;
  std::string result;
  std::string details;  // an object; empty: none
};

struct PageContent {
  std::string title;
  std::vector<PageEvaluation> evaluations;
  std::string comparison, plans, exploration, precisions;  // empty: none
};

// Cost: linear in the texts.
Expected<std::string> page_of(const PageContent& content);
// The same with another template, which must have the mark /*DATA*/ once.
Expected<std::string> page_of(const PageContent& content, std::string_view html);

// `text` as a JSON string, with what is not UTF-8 replaced.
std::string json_text(const std::string& text);

}  // namespace monet
