// Does text arrive from files and pipes, and is all else refused before it fills the memory?
#include "base/read_file.h"

#include "support/folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace monet {
namespace {

class ReadFile : public testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::string problem(const ReadLimits& limits = {}) {
    const auto text = read_file(path_, limits);
    return text ? "" : text.error().message;
  }

  test::Folder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(ReadFile, HoldsTheText) {
  write("one\ntwo\n");
  EXPECT_EQ(*read_file(path_), "one\ntwo\n");
}

TEST_F(ReadFile, APipeIsReadToItsEnd) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const std::string text(300000, 'x');
  std::thread writer([&] { write(text); });
  const auto read = read_file(path_);
  writer.join();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, text);
}

TEST_F(ReadFile, APipeWithoutEndIsGivenUp) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  // The writer is told that nobody reads on, not ended.
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  std::thread writer([&] { write(std::string(std::size_t{8} << 20, 'x')); });
  EXPECT_EQ(problem({.pipe_bytes = std::uint64_t{1} << 20}), "there is more than 1 MiB in this pipe");
  writer.join();
  std::signal(SIGPIPE, before);
}

TEST_F(ReadFile, AFileOfMoreThanTheLimitIsNotRead) {
  write("");
  std::filesystem::resize_file(path_, std::uint64_t{3} << 40);
  EXPECT_EQ(problem(), "there is more than 2048 MiB in this file");
}

TEST_F(ReadFile, FoldersAndDevicesAreRefused) {
  EXPECT_NE(read_file(folder_ / "").error().message.find("it is a folder"), std::string::npos);
  EXPECT_NE(read_file("/dev/zero").error().message.find("it is a device"), std::string::npos);
  EXPECT_NE(problem().find("No such file"), std::string::npos);
}

TEST_F(ReadFile, ARangeIsReadWhereTheFileHasIt) {
  write("abcdef");
  EXPECT_EQ(**read_range(path_, 2, 3), "cde");
  EXPECT_EQ(**read_range(path_, 6, 0), "");
  EXPECT_FALSE(read_range(path_, 4, 3)->has_value());
  EXPECT_FALSE(read_range(path_, 7, 0)->has_value());
  EXPECT_FALSE(read_range(path_, ~std::uint64_t{0}, 2)->has_value());
}

}  // namespace
}  // namespace monet
