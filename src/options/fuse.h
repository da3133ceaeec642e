// Options of `monet fuse`, beside those of the step.
#pragma once

#include "options/name.h"

#include <monet/fuse.h>

namespace monet {

template <class To>
void describe_fuse_rules(To& to) {
  to.title("Rules");
  const auto number = [&](OptionName name, std::int64_t FuseOptions::* member, const char* meaning) {
    to.option(name, member, meaning, "N").whole().with_default();
  };
  number("limit", &FuseOptions::limit, "operators of a stack");
  to.option("rules", &FuseOptions::rules,
            "own, or published: Sum, Gather, Pad do not count as operators, and weights have 8 bits", "WHOSE")
      .such_as({"own", "published"})
      .with_default();
  number("max_conv", &FuseOptions::convolutions, "convolutions of a stack");
  number("max_transposed", &FuseOptions::transposed, "transposed convolutions of a stack");
  number("max_products", &FuseOptions::products, "matrix products and gradients of weights of a stack");
  number("max_conv_with_product", &FuseOptions::convolutions_with_product,
         "convolutions of both kinds beside a product");
  number("max_leaving", &FuseOptions::leaving, "operators of a stack whose results are read outside");
  to.off({"divisible_tilings", "any-tilings"}, &FuseOptions::divisible_tilings,
         "tilings of a stack's operators need not divide each other");
  to.off({"weights_fit", "any-weights"}, &FuseOptions::weights_fit,
         "weights of a stack need not fit the cores' memories at once");
  to.option("stacks", &FuseOptions::stacks,
            "these stacks by numbers of operators, the rest single; only their tiles are searched", "A-B,C-D");
}

template <class To>
void describe_fuse_search(To& to) {
  to.title("Search");
  to.off("tiles", &FuseOptions::tiles, "cut no operator into tiles");
  to.off("improve", &FuseOptions::improve, "leave out improvement on evaluations of the whole step");
  to.option("effort", &FuseOptions::effort, "of improvement", "X").with_default();
  to.time_limit(&FuseOptions::time_limit_s, 0, "stop after so long, with the best so far; none by default");
  to.option("max_candidates", &FuseOptions::max_candidates, "sets that are looked at", "N").whole().with_default();
  to.off("dominance", &FuseOptions::dominance, "keep sets that cost no less than their parts");
  to.off("decompose", &FuseOptions::decompose, "solve all of the step at once");
  to.off("repeat", &FuseOptions::repeat, "solve parts of equal content each time anew");
  to.off("dynamic", &FuseOptions::dynamic, "solve every part as an integer program");
  to.off("lift", &FuseOptions::lift, "forbid rings of stacks one by one");
}

template <class To>
void describe_fuse(To& to) {
  to.option("objective", &FuseOptions::objective,
            "sets (the fewest), traffic (the least between stacks), latency, energy or edp", "WHAT")
      .such_as({"sets", "traffic", "latency", "energy", "edp"})
      .with_default();
  describe_fuse_rules(to);
  describe_fuse_search(to);
}

}  // namespace monet
