// Does a file arrive byte for byte, and is every way in which it cannot be opened told apart?
#include "base/mapped_file.h"

#include "support/folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>

namespace monet {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  test::Folder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(MappedFileTest, HoldsTheBytes) {
  write(std::string("a\0b", 3));
  const auto file = MappedFile::open(path_);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->bytes(), std::string_view("a\0b", 3));
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  write("");
  const auto file = MappedFile::open(path_);
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(file->bytes().empty());
}

TEST_F(MappedFileTest, MovesItsBytes) {
  write("first");
  auto first = MappedFile::open(path_);
  ASSERT_TRUE(first.has_value());
  MappedFile moved = *std::move(first);
  EXPECT_EQ(moved.bytes(), "first");
  auto second = MappedFile::open(path_);
  ASSERT_TRUE(second.has_value());
  *second = std::move(moved);
  EXPECT_EQ(second->bytes(), "first");
}

TEST_F(MappedFileTest, AnAbsentFileIsNamed) {
  const auto file = MappedFile::open(path_);
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().kind, ErrorKind::user);
  EXPECT_EQ(file.error().place, path_);
  EXPECT_NE(file.error().message.find("No such file"), std::string::npos);
  EXPECT_FALSE(file.error().advice.empty());
}

TEST_F(MappedFileTest, AFolderIsNoFile) {
  const auto file = MappedFile::open(folder_ / "");
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("it is a folder"), std::string::npos);
}

TEST_F(MappedFileTest, ADeviceIsNoFile) {
  const auto file = MappedFile::open("/dev/null");
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("not a regular file"), std::string::npos);
}

TEST(ErrorText, PlaceMessageAdvice) {
  Error error{.message = "wrong", .place = {}, .advice = {}};
  EXPECT_EQ(error.text(), "wrong");
  error.place = "net.onnx";
  EXPECT_EQ(error.text(), "net.onnx: wrong");
  error.advice = "do it right";
  EXPECT_EQ(error.text(), "net.onnx: wrong (do it right)");
}

}  // namespace
}  // namespace monet
