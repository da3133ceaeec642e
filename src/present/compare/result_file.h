// Results in files: what a folder of -o holds, read again. Whatever stands in a file, reading it ends with a value or
// an error that names the file.
#pragma once

#include <monet/evaluate.h>
#include <monet/expected.h>
#include <monet/results.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

constexpr int result_schema = 1;

// With sorted keys, so that an object may have very many.
using FileJson = nlohmann::json;

struct ResultFile {
  std::string path;     // of the file
  std::string folder;   // that it lies in; empty where what else lies there is not of this result
  std::string command;  // evaluate, optimize, checkpoint …
  FileJson json;        // an object
  std::string text;     // the same as it stands there, without a byte order mark
  std::string details;  // where it is no file; may be empty
};

// `path` is a folder with result.json, or such a file.
Expected<ResultFile> read_result(const std::string& path);
// What it names, or its text.
Expected<ResultFile> read_result(const NamedResult& result);
// The same of a text; `path` is for messages.
Expected<ResultFile> result_from(std::string_view text, const std::string& path);

// The text of details.json of a folder, checked to be an object of a schema that is known; none: there is no such file.
Expected<std::optional<std::string>> read_details(const std::string& folder);

// Whether a text is one JSON object, not nested beyond reason, whose "schema", where it has one, is known. Needs no
// memory to speak of.
Status check_json_object(std::string_view text, const std::string& path);

// Fields of an object in a file. What is null counts as absent; what is of another type is an error.
class ResultFields {
 public:
  ResultFields(const FileJson& object, const std::string& file, std::string where = {})
      : object_(&object), file_(&file), where_(std::move(where)) {}

  bool has(const char* key) const;
  Expected<double> number(const char* key) const;
  Expected<double> number_or(const char* key, double otherwise) const;
  Expected<std::string> text_or(const char* key, const std::string& otherwise) const;
  Expected<bool> flag_or(const char* key, bool otherwise) const;
  Expected<Parts> parts(const char* key) const;                        // none where it is absent
  Expected<std::vector<ResultFields>> objects(const char* key) const;  // none where it is absent

 private:
  const FileJson* find(const char* key) const;
  Error wrong(const char* key, const std::string& what, const FileJson& found) const;

  const FileJson* object_;
  const std::string* file_;
  std::string where_;  // "operators[3]."
};

}  // namespace monet
