// Are tables of measured kernels read as they were meant, and is each mistake in one named with its line?
#include "kernels/calibrate/measurements.h"

#include "support/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <tuple>

namespace monet {
namespace {

class MeasuredTables : public testing::Test {
 protected:
  Expected<Measurements> read(const std::string& text) {
    const std::string path = folder / "kernels.csv";
    std::ofstream(path) << text;
    return read_measurements({path});
  }
  std::string error(const std::string& text) {
    const auto result = read(text);
    EXPECT_FALSE(result.has_value());
    return result ? "" : result.error().text();
  }
  test::Folder folder;
};

TEST_F(MeasuredTables, ProductsByHowTheirOperandsLie) {
  const auto read_back = read(
      "kind,part,precision,b,m,n,k,s,d,us\n"
      "linear,forward,bf16,,100,200,300,,,5\n"
      "linear,input_gradient,bf16,,100,200,304,,,5\n"
      "linear,weight_gradient,bf16,,100,200,304,,,5\n"
      "bmm,pv,tf32,12,,,,64,32,5\n");
  ASSERT_TRUE(read_back.has_value()) << read_back.error().text();
  const auto& k = read_back->kernels;
  ASSERT_EQ(k.size(), 4U);
  const auto shape = [&](std::size_t i) {
    return std::tuple(k[i].kernel.batch, k[i].kernel.m, k[i].kernel.n, k[i].kernel.k);
  };
  EXPECT_EQ(shape(0), std::tuple(1, 100, 200, 300));
  EXPECT_FALSE(k[0].kernel.aligned);  // 300 is no multiple of 8
  EXPECT_TRUE(k[0].kernel.bias);
  EXPECT_EQ(shape(1), std::tuple(1, 100, 304, 200));
  EXPECT_TRUE(k[1].kernel.aligned);
  EXPECT_EQ(shape(2), std::tuple(1, 200, 304, 100));
  EXPECT_EQ(shape(3), std::tuple(12, 64, 32, 64));
  EXPECT_DOUBLE_EQ(k[2].kernel.flops, 2.0 * 100 * 200 * 304);
}

TEST_F(MeasuredTables, AttentionBackwardIsWhatBothTakeLessTheForwardPass) {
  const std::string header = "kind,part,precision,b,heads,s,d,causal,us\n";
  const auto both =
      read(header + "attention,forward,bf16,1,12,128,64,0,6\nattention,forward_backward,bf16,1,12,128,64,0,22\n");
  ASSERT_TRUE(both.has_value());
  ASSERT_EQ(both->kernels.size(), 2U);
  EXPECT_EQ(both->kernels[1].kernel.part, KernelPart::backward);
  EXPECT_DOUBLE_EQ(both->kernels[1].us, 16);
  const auto alone =
      read(header + "attention,forward,bf16,1,12,128,64,0,6\nattention,forward_backward,bf16,1,12,256,64,0,22\n");
  ASSERT_TRUE(alone.has_value());
  EXPECT_EQ(alone->kernels.size(), 1U);
  ASSERT_EQ(alone->notes.size(), 1U);
  EXPECT_THAT(alone->notes[0], testing::HasSubstr("kernels.csv:3: left out"));
}

TEST_F(MeasuredTables, MistakesAreNamedWithTheirLine) {
  using testing::AllOf;
  using testing::HasSubstr;
  const std::string header = "kind,part,op,precision,m,n,k,elements,us\n";
  EXPECT_THAT(error(""), HasSubstr("kernels.csv"));
  EXPECT_THAT(error("a,b\n1,2\n"), AllOf(HasSubstr("kernels.csv:2"), HasSubstr("there is no column 'kind'")));
  EXPECT_THAT(error(header), HasSubstr("no kernel was measured"));
  EXPECT_THAT(error(header + "linaer,forward,,bf16,1,1,1,,5\n"),
              AllOf(HasSubstr("there is no kind of kernels 'linaer'"), HasSubstr("did you mean linear?")));
  EXPECT_THAT(error(header + "linear,sideways,,bf16,1,1,1,,5\n"), HasSubstr("'linear' has no part 'sideways'"));
  EXPECT_THAT(error(header + "linear,forward,,fp64,1,1,1,,5\n"), HasSubstr("there is no precision 'fp64'"));
  EXPECT_THAT(error(header + "elementwise,,twist,bf16,,,,8,5\n"), HasSubstr("there is no op 'twist'"));
  EXPECT_THAT(error(header + "elementwise,,adam,bf16,,,,8,5\n"), HasSubstr("there is no op 'adam'"));
  for (const char* wrong : {"-1", "0", "nan", "inf", "1e400"})
    EXPECT_THAT(error(header + "linear,forward,,bf16,1,1,1,," + wrong + "\n"), HasSubstr("kernels.csv:2")) << wrong;
  EXPECT_THAT(error(header + "linear,forward,,bf16,1,1,1,,fast\n"), HasSubstr("'fast' is not a number"));
  EXPECT_THAT(error(header + "linear,forward,,bf16,0,1,1,,5\n"), HasSubstr("m = 0 is not from 1"));
  EXPECT_THAT(error(header + "linear,forward,,bf16,9999999999999999,1,1,,5\n"), HasSubstr("m = 9999999999999999"));
  EXPECT_THAT(error(header + "linear,forward,,bf16,,1,1,,5\n"), HasSubstr("'' is not a whole number in column 'm'"));
  EXPECT_THAT(error("kind,us\nconv,5\n"), HasSubstr("'conv' has no part ''"));
  EXPECT_THAT(error("kind,us\nbatch_norm,5\n"), HasSubstr("there is no column 'b'"));
  EXPECT_THAT(error("kind,op,power_w\nenergy,idle,-5\n"), HasSubstr("power_w = -5"));
  EXPECT_THAT(error("kind,op,power_w\nenergy,tiny_kernels,nan\n"), HasSubstr("power_w = nan"));
  EXPECT_THAT(error("kind,op,precision,elements,us,power_w,mj,clock_mhz\nenergy,add,fp32,8,5,300,1,0\n"),
              HasSubstr("clock_mhz = 0"));
}

// A value without a heading is not taken for a column that is not there.
TEST_F(MeasuredTables, LinesThatWereCutOrHaveTooMuchAreErrors) {
  using testing::HasSubstr;
  const std::string header = "kind,op,precision,elements,us\n";
  ASSERT_TRUE(read(header + "elementwise,copy,fp32,1024,3\n\r\n"));
  EXPECT_THAT(error(header + "elementwise,copy,fp32,1024,3\nelementwise,copy,fp32,20"),
              HasSubstr("kernels.csv:3: the line has 4 fields, and the heading 5"));
  EXPECT_THAT(error(header + "elementwise,copy,fp32,1024,3,1,1\n"), HasSubstr("the line has 7 fields"));
  EXPECT_THAT(error(header + "elementwise,\"copy,fp32,1024,3\n"), HasSubstr("the line has 2 fields"));
}

}  // namespace
}  // namespace monet
