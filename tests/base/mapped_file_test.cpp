// Does a file arrive byte for byte, and is every way in which it cannot be opened told apart?
#include "base/mapped_file.h"

#include "support/folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

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

TEST_F(MappedFileTest, APipeIsNoFile) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  // Open for writing too, so that nobody waits.
  std::fstream held(path_);
  const auto file = MappedFile::open(path_);
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("it is a pipe, not a regular file"), std::string::npos);
}

constexpr std::size_t pages = 16;
constexpr std::size_t all_bytes = pages * 4096;

std::size_t sum_of(std::string_view bytes) {
  std::size_t sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return sum;
}

TEST_F(MappedFileTest, AMappedFileHoldsTheBytesToo) {
  write(std::string(all_bytes, '\1'));
  const auto file = MappedFile::open(path_, 0);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(sum_of(file->bytes()), all_bytes);
  EXPECT_TRUE(file->unchanged());
}

TEST_F(MappedFileTest, ACopyStaysWhateverBecomesOfTheFile) {
  write(std::string(all_bytes, '\1'));
  const auto file = MappedFile::open(path_);
  ASSERT_TRUE(file.has_value());
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
  EXPECT_EQ(sum_of(file->bytes()), all_bytes);
  EXPECT_TRUE(file->unchanged());
}

TEST_F(MappedFileTest, WhatWasCutOffAMappedFileIsZerosAndAnError) {
  write(std::string(all_bytes, '\1'));
  const auto file = MappedFile::open(path_, 0);
  const auto whole = MappedFile::open(path_, 0);
  ASSERT_TRUE(file.has_value() && whole.has_value());
  ASSERT_EQ(::truncate(path_.c_str(), all_bytes / 2), 0);
  EXPECT_EQ(sum_of(file->bytes()), all_bytes / 2);
  const Status status = file->unchanged();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::user);
  EXPECT_EQ(status.error().message, "the file changed while it was read");
  EXPECT_EQ(status.error().place, path_);
  EXPECT_FALSE(status.error().advice.empty());
  // Grown again before anybody asks: the mark stays, and the other's time of change tells.
  write(std::string(all_bytes, '\1'));
  EXPECT_FALSE(file->unchanged());
  EXPECT_FALSE(whole->unchanged());
}

// While one thread cuts and restores the file, others read it in both ways: never is the process ended.
TEST_F(MappedFileTest, ReadersOutliveAWriterThatCutsTheFile) {
  const std::string whole(all_bytes, '\1');
  write(whole);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    while (!done) {
      EXPECT_EQ(::truncate(path_.c_str(), 100), 0);
      write(whole);
    }
  });
  std::atomic<int> changed = 0, other = 0;
  const auto look = [&](std::uint64_t most_copied) {
    for (int i = 0; i < 2000; ++i) {
      const auto file = MappedFile::open(path_, most_copied);
      if (!file) {
        ++(file.error().message == "the file changed while it was read" ? changed : other);
        continue;
      }
      const std::size_t sum = sum_of(file->bytes());
      if (!file->unchanged()) ++changed;
      if (sum > all_bytes) ++other;
    }
  };
  std::thread mapping([&] { look(0); });
  std::thread mapping_too([&] { look(0); });
  look(all_bytes);
  mapping.join();
  mapping_too.join();
  done = true;
  writer.join();
  EXPECT_GT(changed, 0);
  EXPECT_EQ(other, 0);
}

TEST_F(MappedFileTest, OtherBusErrorsEndTheProcessAsEver) {
  write(std::string(all_bytes, '\1'));
  const auto file = MappedFile::open(path_, 0);
  ASSERT_TRUE(file.has_value());
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  EXPECT_DEATH(std::raise(SIGBUS), "AddressSanitizer: BUS");  // which had the handler before
  return;
#endif
#endif
  EXPECT_EXIT(std::raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
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
