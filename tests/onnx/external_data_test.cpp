// What may a model make the program read, and what if its file changes in the meantime?
#include "support/expect_error.h"
#include "support/folder.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace monet::onnx {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::OnnxModel;

class ExternalData : public testing::Test {
 protected:
  ExternalData() {
    fs::create_directories(folder_ / "model/data");
    write("secret", target());
    write("model/data/shape.bin", target());
  }

  static std::string target() { return test::int64_vector("shape", {3, 4}).raw; }
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  // Of a model whose Reshape takes its target from there.
  Expected<NetworkGraph> read_with(const std::string& location) {
    OnnxModel model;
    model.input("x", {2, 6});
    test::OnnxTensor shape = test::external("shape", {2}, test::onnx_int64);
    shape.location = location;
    model.initializer(shape);
    model.node("Reshape", {"x", "shape"}, {"y"});
    model.output("y");
    write("model/net.onnx", model.bytes());
    return read(folder_ / "model/net.onnx", {});
  }
  void expect_refused(const std::string& location, const std::string& how) {
    const auto network = read_with(location);
    ASSERT_FALSE(network.has_value()) << location;
    expect_error(network.error(),
                 {location, how, "a model file must not make the program read other files of the user"},
                 (folder_ / "model/net.onnx") + ": node 'y' (Reshape)");
    EXPECT_NE(network.error().advice.find("into the model's folder"), std::string::npos);
  }

  test::Folder folder_;
};

TEST_F(ExternalData, InTheModelsFolderIsRead) {
  EXPECT_TRUE(read_with("data/shape.bin").has_value());
  EXPECT_TRUE(read_with("./data/shape.bin").has_value());
  write("model/two..dots", target());
  EXPECT_TRUE(read_with("two..dots").has_value());
}

TEST_F(ExternalData, ByALinkThatStaysInTheFolderIsRead) {
  fs::create_symlink("data/shape.bin", folder_ / "model/link.bin");
  EXPECT_TRUE(read_with("link.bin").has_value());
}

TEST_F(ExternalData, ByAnAbsolutePathIsRefused) {
  expect_refused(folder_ / "model/data/shape.bin", "an absolute path");
}

TEST_F(ExternalData, AboveTheFolderIsRefused) {
  expect_refused("data/../../secret", "may leave the model's folder by '..'");
}

TEST_F(ExternalData, ByALinkOutOfTheFolderIsRefused) {
  fs::create_symlink("../secret", folder_ / "model/link.bin");
  expect_refused("link.bin", "links out of the model's folder");
  fs::create_directory_symlink("..", folder_ / "model/up");
  expect_refused("up/secret", "links out of the model's folder");
}

TEST_F(ExternalData, OfAFolderBesideWithTheSameBeginningIsOutside) {
  fs::create_directory(folder_ / "model2");
  write("model2/shape.bin", target());
  fs::create_directory_symlink("../model2", folder_ / "model/beside");
  expect_refused("beside/shape.bin", "links out of the model's folder");
}

// An unknown field of many zeros after the model, which takes no room on the disk, makes it one that is mapped.
void make_large(const std::string& path, std::string bytes) {
  constexpr std::uint32_t zeros = 65u << 20;
  bytes += "\xfa\x7f";  // field 2047, a run of bytes
  for (std::uint32_t rest = zeros; rest != 0; rest >>= 7)
    bytes += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  std::ofstream(path, std::ios::binary) << bytes;
  fs::resize_file(path, bytes.size() + zeros);
}

TEST_F(ExternalData, AModelThatIsCutWhileItIsReadIsAnError) {
  OnnxModel model;
  model.input("x", {2, 6});
  std::string last = "x";
  for (int i = 0; i < 200; ++i) {
    const std::string next = "y" + std::to_string(i);
    model.node("Relu", {last}, {next});
    last = next;
  }
  model.output(last);
  for (const bool large : {false, true}) {
    const std::string path = folder_ / "cut.onnx";
    const auto make = [&] { large ? make_large(path, model.bytes()) : void(std::ofstream(path) << model.bytes()); };
    make();
    ASSERT_TRUE(read(path, {}).has_value()) << large;
    std::atomic<bool> done = false;
    std::thread writer([&] {
      while (!done) {
        EXPECT_EQ(::truncate(path.c_str(), 0), 0);
        make();
      }
    });
    int changed = 0;
    // Whichever state is caught, the answer is a network or an error, never the end of the process.
    for (int i = 0; i < 20000 && changed < 5; ++i) {
      const auto network = read(path, {});
      if (!network && network.error().message == "the file changed while it was read") ++changed;
    }
    done = true;
    writer.join();
    EXPECT_GT(changed, 0) << large;
  }
}

}  // namespace
}  // namespace monet::onnx
