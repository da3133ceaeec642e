#include "present/compare/result_file.h"

#include "base/quantities.h"
#include "base/read_file.h"
#include "base/try.h"
#include "base/whole_file.h"

#include <fmt/format.h>

#include <filesystem>

namespace monet {

namespace {

constexpr std::size_t most_result_bytes = std::size_t{256} << 20;  // becomes a tree in memory, several times as large
constexpr std::size_t most_details_bytes = std::size_t{1} << 30;
constexpr std::size_t deepest_nesting = 64;
constexpr const char* give_a_result = "give a folder that monet wrote with -o, or what it printed with --json";

std::string place_of(std::string_view text, std::size_t byte, const std::string& file) {
  std::size_t line = 1, column = 1;
  for (const char c : text.substr(0, byte)) {
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n' ? 1 : 0;
  }
  return fmt::format("{}:{}:{}", file, line, column);
}

// Looks at a text without keeping it.
class Checker : public nlohmann::json_sax<FileJson> {
 public:
  std::string fault;
  std::size_t fault_at = 0;  // bytes that were read; 0: of the whole
  bool is_object = false;
  double schema = result_schema;

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(FileJson::number_integer_t number) override { return take(static_cast<double>(number)); }
  bool number_unsigned(FileJson::number_unsigned_t number) override { return take(static_cast<double>(number)); }
  bool number_float(FileJson::number_float_t number, const FileJson::string_t&) override { return take(number); }
  bool string(FileJson::string_t&) override { return value(); }
  bool binary(FileJson::binary_t&) override { return value(); }
  bool start_object(std::size_t) override {
    if (depth_ == 0) is_object = true;
    return enter();
  }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(FileJson::string_t& name) override {
    at_schema_ = depth_ == 1 && name == "schema";
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    const std::string what = error.what();
    const std::size_t colon = what.find(": ");
    fault = colon == std::string::npos ? what.substr(what.find(' ') + 1) : what.substr(colon + 2);
    fault_at = std::max<std::size_t>(position, 1);
    return false;
  }

 private:
  bool value() {
    at_schema_ = false;
    return true;
  }
  bool take(double number) {
    if (at_schema_) schema = number;
    return value();
  }
  bool enter() {
    at_schema_ = false;
    if (++depth_ <= deepest_nesting) return true;
    fault = fmt::format("brackets are nested deeper than {}", deepest_nesting);
    return false;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  bool at_schema_ = false;
};

std::string_view kind_of(const FileJson& value) {
  switch (value.type()) {
    case FileJson::value_t::null: return "null";
    case FileJson::value_t::boolean: return "true or false";
    case FileJson::value_t::string: return "a text";
    case FileJson::value_t::array: return "a list";
    case FileJson::value_t::object: return "an object";
    default: return "a number";
  }
}

Status check_size(std::size_t bytes, std::size_t most, const std::string& path) {
  if (bytes <= most) return Done{};
  return Error{
      .message = fmt::format("the file has {}; at most {} are read", byte_size(static_cast<std::int64_t>(bytes)),
                             byte_size(static_cast<std::int64_t>(most))),
      .place = path,
      .advice = give_a_result};
}

}  // namespace

Status check_json_object(std::string_view text, const std::string& path) {
  // The parser takes a zero for the end of the text, and would not look at what follows.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return Error{.message = "this is not the JSON of a result: there is a zero byte",
                 .place = place_of(text, zero, path),
                 .advice = give_a_result};
  Checker checker;
  const bool read = FileJson::sax_parse(text.begin(), text.end(), &checker);
  if (!read) {
    const std::string place = checker.fault_at > 0 ? place_of(text, checker.fault_at - 1, path) : path;
    if (text.starts_with('{') && checker.fault_at > text.size())
      return Error{.message = "the result is cut short: its last bracket is missing",
                   .place = place,
                   .advice = "make it or copy it again"};
    return Error{
        .message = "this is not the JSON of a result: " + checker.fault, .place = place, .advice = give_a_result};
  }
  if (!checker.is_object)
    return Error{.message = "a result is one JSON object", .place = path, .advice = give_a_result};
  if (checker.schema > result_schema) {
    return Error{.message = fmt::format("made by a later version of monet: its schema is {}, this program knows {}",
                                        checker.schema, result_schema),
                 .place = path,
                 .advice = "install that version, or make the result again with this one"};
  }
  return Done{};
}

Expected<ResultFile> result_from(std::string_view text, const std::string& path) {
  MONET_RETURN_IF_ERROR(check_size(text.size(), most_result_bytes, path));
  MONET_RETURN_IF_ERROR(check_json_object(text, path));
  const std::filesystem::path at = path;
  ResultFile file{.path = path,
                  .folder = at.filename() != "result.json" ? ""
                            : at.has_parent_path()         ? at.parent_path().string()
                                                           : ".",
                  .json = FileJson::parse(text),
                  .text = std::string(text.substr(text.find('{')))};
  const ResultFields fields(file.json, file.path);
  MONET_TRY(const double schema, fields.number("schema"));
  if (schema != result_schema)
    return Error{.message = fmt::format("there is no schema {}", schema), .place = path, .advice = give_a_result};
  MONET_TRY(file.command, fields.text_or("command", ""));
  if (file.command.empty())
    return Error{
        .message = "it does not say which command made it (\"command\")", .place = path, .advice = give_a_result};
  return file;
}

Expected<ResultFile> read_result(const std::string& path) {
  std::error_code ignored;
  std::string file = path;
  if (std::filesystem::is_directory(path, ignored)) {
    file = std::filesystem::path(path) / "result.json";
    if (!std::filesystem::exists(file, ignored))
      return Error{.message = "there is no result.json in this folder", .place = path, .advice = give_a_result};
  }
  MONET_TRY(const std::string text, read_file(file));
  MONET_TRY(ResultFile result, result_from(text, file));
  if (!result.folder.empty() &&
      std::filesystem::exists(std::filesystem::path(result.folder) / unfinished_name, ignored))
    return Error{.message = "its files are of two runs: monet was ended while it replaced them",
                 .place = result.folder,
                 .advice = "make it again with -o"};
  return result;
}

Expected<ResultFile> read_result(const NamedResult& result) {
  if (result.result.empty()) return read_result(result.name);
  MONET_TRY(ResultFile file, result_from(result.result, result.name));
  file.folder.clear();
  file.details = result.details;
  return file;
}

Expected<std::optional<std::string>> read_details(const std::string& folder) {
  const std::string path = std::filesystem::path(folder) / "details.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<std::string>();
  MONET_TRY(std::string text, read_file(path));
  MONET_RETURN_IF_ERROR(check_size(text.size(), most_details_bytes, path));
  MONET_RETURN_IF_ERROR(check_json_object(text, path));
  return std::optional(std::move(text));
}

const FileJson* ResultFields::find(const char* key) const {
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

Error ResultFields::wrong(const char* key, const std::string& what, const FileJson& found) const {
  return {.message = fmt::format("\"{}{}\" is {}, not {}", where_, key, kind_of(found), what),
          .place = *file_,
          .advice = give_a_result};
}

bool ResultFields::has(const char* key) const { return find(key) != nullptr; }

Expected<double> ResultFields::number(const char* key) const {
  if (!has(key))
    return Error{.message = fmt::format("\"{}{}\" is missing", where_, key), .place = *file_, .advice = give_a_result};
  return number_or(key, 0);
}

Expected<double> ResultFields::number_or(const char* key, double otherwise) const {
  const FileJson* found = find(key);
  if (found == nullptr) return otherwise;
  if (!found->is_number()) return wrong(key, "a number", *found);
  return found->get<double>();
}

Expected<std::string> ResultFields::text_or(const char* key, const std::string& otherwise) const {
  const FileJson* found = find(key);
  if (found == nullptr) return otherwise;
  if (!found->is_string()) return wrong(key, "a text", *found);
  return found->get<std::string>();
}

Expected<bool> ResultFields::flag_or(const char* key, bool otherwise) const {
  const FileJson* found = find(key);
  if (found == nullptr) return otherwise;
  if (!found->is_boolean()) return wrong(key, "true or false", *found);
  return found->get<bool>();
}

Expected<Parts> ResultFields::parts(const char* key) const {
  Parts parts;
  const FileJson* found = find(key);
  if (found == nullptr) return parts;
  if (!found->is_object()) return wrong(key, "an object", *found);
  for (const auto& [name, value] : found->items()) {
    if (!value.is_number()) return wrong(fmt::format("{}.{}", key, name).c_str(), "a number", value);
    parts.emplace_back(name, value.template get<double>());
  }
  return parts;
}

Expected<std::vector<ResultFields>> ResultFields::objects(const char* key) const {
  std::vector<ResultFields> list;
  const FileJson* found = find(key);
  if (found == nullptr) return list;
  if (!found->is_array()) return wrong(key, "a list", *found);
  for (std::size_t i = 0; i < found->size(); ++i) {
    const std::string name = fmt::format("{}[{}]", key, i);
    if (!(*found)[i].is_object()) return wrong(name.c_str(), "an object", (*found)[i]);
    list.emplace_back((*found)[i], *file_, where_ + name + ".");
  }
  return list;
}

}  // namespace monet
