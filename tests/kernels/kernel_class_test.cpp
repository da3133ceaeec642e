// Do names of classes come back, and do kernels fall into the class that the documents say?
#include "kernels/kernel_class.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet {
namespace {

TEST(KernelClass, NamesComeBack) {
  for (std::size_t kind = 0; kind < kernel_kinds; ++kind) {
    for (std::size_t variant = 0; variant < kernel_variants; ++variant) {
      for (const KernelOp op : {KernelOp::none, KernelOp::add, KernelOp::adamw}) {
        const KernelClass of{static_cast<KernelKind>(kind), KernelPart::forward, KernelPrecision::tf32, op,
                             static_cast<KernelVariant>(variant)};
        const auto read = kernel_class_named(name_of(of));
        ASSERT_TRUE(read) << name_of(of);
        EXPECT_EQ(*read, of);
      }
    }
  }
  for (const char* wrong : {"", "product", "product.forward", "product.forward.fp64", "gemm.forward.fp32",
                            "product.forward.fp32.warm", "product.forward.fp32.cold.cold", "....", "product..fp32"})
    EXPECT_FALSE(kernel_class_named(wrong)) << wrong;
}

TEST(KernelClass, LayoutWindowAndAlignmentDecide) {
  Kernel k{.kind = KernelKind::convolution, .precision = KernelPrecision::bf16, .c = 8, .o = 8};
  EXPECT_EQ(name_of(class_of(k)), "convolution.forward.bf16.pointwise");
  k.stride = 2;
  EXPECT_EQ(name_of(class_of(k)), "convolution.forward.bf16.windows");
  k.channels_last = true;
  EXPECT_EQ(name_of(class_of(k)), "convolution.forward.bf16.channels_last");
  k.groups = 8;
  EXPECT_EQ(name_of(class_of(k)), "convolution.forward.bf16.depthwise_last");
  k.precision = KernelPrecision::tf32;
  EXPECT_EQ(name_of(class_of(k)), "convolution.forward.fp32.depthwise_last");
  const Kernel p{.kind = KernelKind::product, .precision = KernelPrecision::tf32, .aligned = false};
  EXPECT_EQ(name_of(class_of(p)), "product.forward.tf32.unaligned");
}

TEST(KernelClass, WhatIsNotKnownDoesNotCountForTheDistance) {
  const KernelShape a = shape_of({.kind = KernelKind::elementwise, .c = 4, .h = 2, .w = 2, .elements = 100});
  const KernelShape b = shape_of({.kind = KernelKind::elementwise, .elements = 100});
  EXPECT_DOUBLE_EQ(distance(a, b), 0);
  const KernelShape c = shape_of({.kind = KernelKind::elementwise, .c = 8, .h = 2, .w = 2, .elements = 100});
  EXPECT_NEAR(distance(a, c), std::log(2.0), 1e-12);
}

}  // namespace
}  // namespace monet
