// Does reading a result again end with what stands there, or with an error that helps?
#include "present/compare/result_file.h"

#include "explore/toy_space.h"
#include "support/expect_error.h"

#include <filesystem>

namespace monet {
namespace {

using test::expect_error;
using test::Folder;
using test::write_bytes;

const std::string small_result =
    R"({"schema": 1, "command": "evaluate", "latency_cycles": 12.5, "parts": {"b": 2, "a": 1}})";

Error error_of(const std::string& text) {
  const auto result = result_from(text, "out/result.json");
  EXPECT_FALSE(result) << text;
  return result ? Error{} : result.error();
}

TEST(ResultFile, IsReadFromAFolderOrByItsName) {
  const Folder folder;
  write_bytes(folder / "result.json", small_result);
  for (const std::string& path : {folder / "result.json", folder / "", folder / "."}) {
    const auto result = read_result(path);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->command, "evaluate");
    EXPECT_EQ(result->text, small_result);
    EXPECT_TRUE(std::filesystem::equivalent(result->folder, folder / ""));
    EXPECT_EQ(result->json["latency_cycles"], 12.5);
  }
}

TEST(ResultFile, MayBeginWithAByteOrderMark) {
  const auto result = result_from("\xef\xbb\xbf " + small_result, "out/result.json");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->text, small_result);
}

TEST(ResultFile, ThatIsAbsent) {
  const Folder folder;
  expect_error(read_result(folder / "no.json").error(), {"No such file"}, folder / "no.json");
  expect_error(read_result(folder / "").error(), {"there is no result.json in this folder"}, folder / "");
}

TEST(ResultFile, ThatIsDamagedHasAPlace) {
  expect_error(error_of("{\"schema\": 1,\n  \"command\": }"), {"not the JSON of a result"}, "out/result.json:2:14");
  expect_error(error_of(""), {"not the JSON"}, "out/result.json:1:1");
  expect_error(error_of("{\"a\": \"\xff\"}"), {"not the JSON"}, "out/result.json:1:");
  expect_error(error_of(small_result + std::string(2, '\0') + "x"), {"zero byte"}, "out/result.json:1:88");
  expect_error(error_of(small_result + " {}"), {"not the JSON"}, "out/result.json:1:");
}

TEST(ResultFile, ThatIsCutSaysSoWhereverItIsCut) {
  for (std::size_t bytes = 1; bytes < small_result.size(); ++bytes)
    expect_error(error_of(small_result.substr(0, bytes)), {"cut short", "last bracket"}, "out/result.json:1:");
}

TEST(ResultFile, HasNoNumbersThatAreNone) {
  for (const char* number : {"NaN", "Infinity", "-Infinity", "1e999", "-1e999"})
    expect_error(error_of(fmt::format("{{\"schema\": 1, \"command\": \"evaluate\", \"x\": {}}}", number)),
                 {"not the JSON of a result"}, "out/result.json:1:");
}

TEST(ResultFile, ThatIsNestedBeyondReason) {
  expect_error(error_of("{\"a\": " + std::string(100000, '[')), {"nested deeper than 64"}, "out/result.json");
  expect_error(error_of(std::string(100000, '{')), {"not the JSON"}, "out/result.json");
  EXPECT_TRUE(check_json_object("{\"a\": " + std::string(63, '[') + std::string(63, ']') + "}", "x"));
}

TEST(ResultFile, OfALaterVersionSaysSo) {
  expect_error(error_of(R"({"schema": 2, "command": "evaluate"})"), {"made by a later version of monet", "2"},
               "out/result.json");
  expect_error(error_of(R"({"schema": 0, "command": "evaluate"})"), {"there is no schema 0"}, "out/result.json");
  expect_error(error_of(R"({"command": "evaluate"})"), {"\"schema\" is missing"}, "out/result.json");
  expect_error(error_of(R"({"schema": "1", "command": "evaluate"})"), {"\"schema\" is a text, not a number"});
}

TEST(ResultFile, OfAnotherKind) {
  expect_error(error_of("[1, 2]"), {"one JSON object"}, "out/result.json");
  expect_error(error_of("17"), {"one JSON object"}, "out/result.json");
  expect_error(error_of(R"({"schema": 1})"), {"which command"}, "out/result.json");
  expect_error(error_of(R"({"schema": 1, "command": 7})"), {"\"command\" is a number, not a text"});
}

// Files with a hole: they take no room.
TEST(ResultFile, ThatIsTooLargeIsNotRead) {
  const Folder folder;
  write_bytes(folder / "result.json", small_result);
  std::filesystem::resize_file(folder / "result.json", (std::uintmax_t{256} << 20) + 1);
  expect_error(read_result(folder / "").error(), {"256 MiB", "at most"}, "result.json");
  write_bytes(folder / "details.json", "{}");
  std::filesystem::resize_file(folder / "details.json", (std::uintmax_t{1} << 30) + 1);
  expect_error(read_details(folder / "").error(), {"1 GiB", "at most"}, "details.json");
}

TEST(ResultFile, DetailsMayBeAbsentButNotDamaged) {
  const Folder folder;
  const auto none = read_details(folder / "");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  write_bytes(folder / "details.json", R"({"schema": 1, "machine": {}})");
  const auto some = read_details(folder / "");
  ASSERT_TRUE(some && some->has_value());
  EXPECT_EQ(**some, R"({"schema": 1, "machine": {}})");
  write_bytes(folder / "details.json", "{\"machine\": nope}");
  expect_error(read_details(folder / "").error(), {"not the JSON"}, "details.json:1:14");
  write_bytes(folder / "details.json", "[]");
  expect_error(read_details(folder / "").error(), {"one JSON object"}, "details.json");
  write_bytes(folder / "details.json", R"({"inner": {"schema": 1}, "schema": 3})");
  expect_error(read_details(folder / "").error(), {"later version"}, "details.json");
}

TEST(ResultFields, KnowTheirTypes) {
  const FileJson json = FileJson::parse(R"({"n": 2, "t": "x", "f": true, "p": {"b": 2, "a": 1}, "none": null,
                                            "l": [{"n": 1}, {"n": "one"}], "bad_p": {"a": "x"}, "bad_l": [1]})");
  const std::string file = "r.json";
  const ResultFields fields(json, file);
  EXPECT_EQ(*fields.number("n"), 2);
  EXPECT_EQ(*fields.number_or("absent", 7), 7);
  EXPECT_EQ(*fields.number_or("none", 7), 7);
  EXPECT_EQ(*fields.text_or("t", ""), "x");
  EXPECT_EQ(*fields.flag_or("f", false), true);
  EXPECT_EQ(*fields.parts("p"), (Parts{{"a", 1}, {"b", 2}}));
  EXPECT_TRUE(fields.parts("absent")->empty() && fields.objects("absent")->empty());
  EXPECT_FALSE(fields.has("none"));
  const auto list = fields.objects("l");
  ASSERT_TRUE(list && list->size() == 2);
  EXPECT_EQ(*(*list)[0].number("n"), 1);
  expect_error((*list)[1].number("n").error(), {"\"l[1].n\" is a text, not a number"}, file);
  expect_error((*list)[1].number("m").error(), {"\"l[1].m\" is missing"}, file);
  expect_error(fields.number("t").error(), {"\"t\" is a text, not a number"}, file);
  expect_error(fields.text_or("n", "").error(), {"\"n\" is a number, not a text"}, file);
  expect_error(fields.flag_or("n", true).error(), {"\"n\" is a number, not true or false"}, file);
  expect_error(fields.parts("l").error(), {"\"l\" is a list, not an object"}, file);
  expect_error(fields.parts("bad_p").error(), {"\"bad_p.a\" is a text, not a number"}, file);
  expect_error(fields.objects("p").error(), {"\"p\" is an object, not a list"}, file);
  expect_error(fields.objects("bad_l").error(), {"\"bad_l[0]\" is a number, not an object"}, file);
}

// Reading is not quadratic in the keys of an object: this would take minutes.
TEST(ResultFile, MayHaveVeryManyKeys) {
  std::string text = R"({"schema": 1, "command": "evaluate", "energy_breakdown": {"memory x": 1)";
  for (int i = 0; i < 500000; ++i) text += fmt::format(",\"memory core{}/sram\":1", i);
  const auto result = result_from(text + "}}", "large.json");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(ResultFields(result->json, result->path).parts("energy_breakdown")->size(), 500001U);
}

}  // namespace
}  // namespace monet
