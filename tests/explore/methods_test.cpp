// Does each method find what is there, look at no more than it may, and do the same again for the same seed?
#include "explore/methods/methods.h"

#include "explore/methods/gaussian_process.h"
#include "explore/methods/sequences.h"
#include "explore/synthetic.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace monet::explore {
namespace {

using test::Oracle;
using testing::Each;
using testing::Le;

const std::vector<std::string> names = {"all", "random", "sobol", "nsga2", "surrogate", "narrow"};

MethodOptions options_of(const std::string& method, std::size_t samples = 0, std::uint64_t seed = 1) {
  MethodOptions options;
  options.method = method;
  options.samples = samples;
  options.seed = seed;
  options.population = 16;
  return options;
}

Searched run(const Space& space, const MethodOptions& options, Oracle& oracle) {
  const auto searched = search(space, options, oracle.ask());
  EXPECT_TRUE(searched.has_value()) << searched.error().text();
  return searched ? *searched : Searched{};
}

Oracle machines(const Space& space) {
  return {.price = [&](Design design) { return test::machine_like(space, design); }};
}

TEST(Methods, AreListedWithWhatTheyDo) {
  std::vector<std::string> listed;
  for (const Method& method : methods()) {
    listed.push_back(method.name);
    EXPECT_FALSE(method.description.empty());
  }
  EXPECT_EQ(listed, names);
}

TEST(Methods, AnUnknownOneIsAnError) {
  Oracle oracle;
  const auto wrong = search(test::synthetic_space({2}), options_of("nsga"), oracle.ask());
  ASSERT_FALSE(wrong.has_value());
  test::expect_error(wrong.error(), {"no method 'nsga'"}, "--method");
  EXPECT_THAT(wrong.error().advice, testing::HasSubstr("nsga2"));
  const auto other = search(test::synthetic_space({2}), options_of("bayes"), oracle.ask());
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().advice, testing::HasSubstr("surrogate"));
}

TEST(Methods, LookAtNoMoreThanAskedAndAtNothingTwice) {
  const Space space = test::synthetic_space({5, 4, 3, 4, 2});
  for (const std::string& name : names) {
    for (const std::size_t samples : {1, 7, 40}) {
      Oracle oracle = machines(space);
      const Searched searched = run(space, options_of(name, samples), oracle);
      EXPECT_EQ(oracle.asked.size(), samples) << name;
      EXPECT_EQ(oracle.different().size(), samples) << name;
      EXPECT_EQ(searched.looked_at, samples) << name;
      EXPECT_TRUE(searched.complete) << name;
    }
  }
}

TEST(Methods, GiveTheSameAgainForASeedWhateverTheAppetite) {
  const Space space = test::synthetic_space({5, 4, 3, 4, 2});
  for (const std::string& name : names) {
    Oracle one = machines(space), other = machines(space), differently = machines(space);
    MethodOptions options = options_of(name, 60);
    options.batch_hint = [] { return std::size_t{1}; };
    run(space, options, one);
    options.batch_hint = [] { return std::size_t{37}; };
    run(space, options, other);
    EXPECT_EQ(one.asked, other.asked) << name;
    options.seed = 2;
    run(space, options, differently);
    EXPECT_EQ(one.asked == differently.asked, name == "all") << name;
  }
}

TEST(Methods, EndWhenTheUserWantsNoMore) {
  const Space space = test::synthetic_space({5, 4, 3, 4, 2});
  for (const std::string& name : names) {
    Oracle oracle = machines(space);
    oracle.answers = 21;
    const Searched searched = run(space, options_of(name, 60), oracle);
    EXPECT_FALSE(searched.complete) << name;
    EXPECT_EQ(searched.looked_at, 21U) << name;
  }
}

TEST(Methods, PassErrorsOn) {
  const Space space = test::synthetic_space({5, 4, 3});
  const Ask broken = [](std::span<const Design>) -> Expected<std::vector<Outcome>> {
    return Error{.message = "the disk is full"};
  };
  for (const std::string& name : names) {
    const auto searched = search(space, options_of(name, 10), broken);
    ASSERT_FALSE(searched.has_value()) << name;
    EXPECT_EQ(searched.error().message, "the disk is full");
  }
}

// Every other design breaks a constraint: those cost no sample.
TEST(Methods, DoNotCountExcludedDesigns) {
  const Space space = test::synthetic_space({6, 5, 4, 4});
  for (const std::string& name : names) {
    std::size_t counted = 0;
    Oracle oracle{.price = [&](Design design) {
      const bool out = design % 2 == 1;
      counted += out ? 0 : 1;
      return out ? test::excluded(design) : test::machine_like(space, design);
    }};
    run(space, options_of(name, 30), oracle);
    EXPECT_EQ(counted, 30U) << name;
  }
}

TEST(Methods, EndWhereAllIsExcludedOrFails) {
  const Space space = test::synthetic_space({4, 4, 4});
  for (const std::string& name : names) {
    Oracle out{.price = test::excluded};
    EXPECT_LE(run(space, options_of(name, 20), out).looked_at, 64U) << name;
    Oracle fails{.price = test::did_not_run};
    EXPECT_LE(run(space, options_of(name, 20), fails).looked_at, 20U) << name;
  }
  // Of 2^48 designs none is allowed: nobody looks at them all.
  const Space large = test::synthetic_space({4096, 4096, 4096, 4096});
  EXPECT_EQ(large.size(), std::uint64_t{1} << 48);
  for (const std::string& name : names) {
    if (name == "all") continue;
    Oracle out{.price = test::excluded};
    EXPECT_LE(run(large, options_of(name, 2), out).looked_at, 3000U) << name;
  }
}

TEST(Methods, CoverASmallSpaceWhole) {
  const Space space = test::synthetic_space({3, 2, 2});
  for (const std::string name : {"all", "random", "sobol", "surrogate"}) {
    Oracle oracle = machines(space);
    EXPECT_EQ(run(space, options_of(name, 100), oracle).looked_at, 12U) << name;
  }
  const Space one = test::synthetic_space({1, 1});
  for (const std::string& name : names) {
    Oracle oracle = machines(one);
    EXPECT_EQ(run(one, options_of(name), oracle).looked_at, 1U) << name;
  }
}

TEST(Methods, AllGoesThroughTheSpaceInOrder) {
  const Space space = test::synthetic_space({5, 7});
  Oracle oracle = machines(space);
  MethodOptions options = options_of("all");
  options.batch_hint = [] { return std::size_t{8}; };
  run(space, options, oracle);
  std::vector<Design> all(35);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(oracle.asked, all);
  EXPECT_THAT(oracle.questions, Each(Le(8U)));
}

double share_of_front(const Space& space, const std::string& method, std::size_t samples, std::uint64_t seed,
                      const std::vector<Outcome>& all) {
  Oracle oracle{.price = [&](Design design) { return all[design]; }};
  run(space, options_of(method, samples, seed), oracle);
  std::vector<Outcome> seen;
  for (const Design design : oracle.different()) seen.push_back(all[design]);
  std::vector<double> ideal(2, 1e300), reference(2, 0);
  for (const Outcome& outcome : all) {
    if (!outcome.ran()) continue;
    const auto values = values_of(outcome, space, space.objectives);
    for (std::size_t o = 0; o < 2; ++o) {
      ideal[o] = std::min(ideal[o], values[o]);
      reference[o] = std::max(reference[o], values[o]);
    }
  }
  return test::area_of(test::front_values(space, seen), ideal, reference) /
         test::area_of(test::front_values(space, all), ideal, reference);
}

// As the Edge-TPU space has them: 10,000 designs, of which a search may see under a tenth.
TEST(Methods, SearchesReachTheFrontWithFewDesigns) {
  const Space space = test::synthetic_space({5, 5, 4, 4, 5, 5});
  std::vector<Outcome> all, some_fail;
  for (Design design = 0; design < space.size(); ++design) {
    all.push_back(test::machine_like(space, design));
    const Choice choice = space.choice(design);
    const bool too_small = choice[3] == 0 && choice[0] + choice[1] < 4;  // where many machines are good
    some_fail.push_back(too_small ? test::did_not_run(design) : all.back());
  }
  for (const auto& [method, samples] : {std::pair{"nsga2", 999}, {"narrow", 999}, {"surrogate", 150}}) {
    const std::uint64_t seeds = std::string(method) == "surrogate" ? 3 : 10;
    for (const auto& outcomes : {all, some_fail}) {
      std::vector<double> shares;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        shares.push_back(share_of_front(space, method, static_cast<std::size_t>(samples), seed, outcomes));
      }
      std::ranges::sort(shares);
      EXPECT_GE(shares[shares.size() / 2], 0.99) << method;
    }
  }
}

// On a convex bowl narrowing ends by itself with the whole front: no step in one or two axes leads on.
TEST(Methods, NarrowEndsAtTheFront) {
  const Space space = test::synthetic_space({17, 17, 17});
  const auto price = [&](Design design) {
    const Choice c = space.choice(design);
    const double rest = std::pow(c[2] - 7.0, 2);
    return test::ran(design, 1 + std::pow(c[0] - 3.0, 2) + std::pow(c[1] - 4.0, 2) + rest,
                     1 + std::pow(c[0] - 12.0, 2) + std::pow(c[1] - 4.0, 2) + rest);
  };
  Oracle oracle{.price = price};
  run(space, options_of("narrow", 4913), oracle);
  std::vector<Outcome> seen, all;
  for (const Design design : oracle.different()) seen.push_back(price(design));
  for (Design design = 0; design < space.size(); ++design) all.push_back(price(design));
  // c0 from 3 to 12, c1 = 4, c2 = 7
  EXPECT_EQ(test::front_values(space, all).size(), 10U);
  EXPECT_EQ(test::front_values(space, seen), test::front_values(space, all));
  EXPECT_LT(oracle.asked.size(), space.size() / 3);
}

TEST(RandomOrder, IsAPermutation) {
  for (const std::uint64_t count : {1, 2, 3, 17, 256, 1000}) {
    std::set<std::uint64_t> values;
    const RandomOrder order(count, 5);
    for (std::uint64_t i = 0; i < count; ++i) values.insert(order.at(i));
    EXPECT_EQ(values.size(), count);
    EXPECT_EQ(*values.rbegin(), count - 1);
  }
}

// Chi square of the first place over 2,000 seeds, 19 degrees of freedom: above 43.8 once in a thousand.
TEST(RandomOrder, PutsEveryNumberFirstEquallyOften) {
  constexpr int count = 20, seeds = 2000;
  std::vector<double> hits(count, 0);
  for (int seed = 0; seed < seeds; ++seed) ++hits[RandomOrder(count, static_cast<std::uint64_t>(seed)).at(0)];
  double chi_square = 0;
  for (const double hit : hits) chi_square += std::pow(hit - seeds / count, 2) / (seeds / count);
  EXPECT_LT(chi_square, 43.8);
}

// The first eight points of the first three dimensions, as published with the direction numbers, in binary order.
TEST(Sobol, IsThePublishedSequence) {
  const SobolSequence sequence(3, 0);
  const std::vector<std::vector<double>> expected = {{0, 0, 0},
                                                     {0.5, 0.5, 0.5},
                                                     {0.25, 0.75, 0.75},
                                                     {0.75, 0.25, 0.25},
                                                     {0.125, 0.625, 0.375},
                                                     {0.625, 0.125, 0.875},
                                                     {0.375, 0.375, 0.625},
                                                     {0.875, 0.875, 0.125}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto point = sequence.point(i);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(std::ldexp(static_cast<double>(point[d]), -48), expected[i][d]);
  }
}

// 2^k points have one in each of 2^k equal parts of every coordinate, shifted or not: the property of such sequences.
TEST(Sobol, FillsEveryCoordinateEvenly) {
  for (const std::uint64_t seed : {0, 1, 99}) {
    const SobolSequence sequence(sobol_dimensions, seed);
    std::vector<std::set<std::uint64_t>> parts(sobol_dimensions);
    for (std::uint64_t i = 0; i < 256; ++i) {
      const auto point = sequence.point(i);
      for (std::size_t d = 0; d < sobol_dimensions; ++d) parts[d].insert(point[d] >> 40U);
    }
    for (const auto& part : parts) EXPECT_EQ(part.size(), 256U);
  }
}

// 64 designs of a 4 x 4 x 4 x 4 space: each pair of values of the first two axes four times.
TEST(Sobol, DesignsAreEvenOverPairsOfAxes) {
  const Space space = test::synthetic_space({4, 4, 4, 4});
  EvenOrder order(space, 3);
  std::vector<int> pairs(16, 0);
  for (int i = 0; i < 64; ++i) {
    const Choice choice = space.choice(order.next());
    ++pairs[static_cast<std::size_t>(choice[0] * 4 + choice[1])];
  }
  EXPECT_THAT(pairs, Each(4));
}

// Two points and a length of 1: the equations by hand.
TEST(GaussianProcess, SolvesTwoPointsAsByHand) {
  const GaussianProcess process({{0.0}, {1.0}}, std::vector<double>{-1.0, 1.0}, {.lengths = {1.0}, .noise = 0});
  const auto kernel = [](double r) { return (1 + std::sqrt(5) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5) * r); };
  const double k = kernel(1), weight = 1 / (1 - k);  // K^-1 (-1, 1) = (-1, 1) / (1 - k)
  const double near = kernel(0.25), far = kernel(0.75);
  const auto guess = process.at({0.25});
  EXPECT_NEAR(guess.mean, weight * (far - near), 1e-12);
  EXPECT_NEAR(guess.deviation * guess.deviation, 1 - (near * near + far * far - 2 * k * near * far) / (1 - k * k),
              1e-12);
  EXPECT_NEAR(process.at({1.0}).mean, 1, 1e-9);
  EXPECT_NEAR(process.at({1.0}).deviation, 0, 1e-5);
  EXPECT_NEAR(process.log_likelihood(), -weight - std::log(1 - k * k) / 2, 1e-12);
}

TEST(GaussianProcess, FindsWhichCoordinateMatters) {
  std::vector<Coordinates> points;
  std::vector<double> values;
  const SobolSequence sequence(2, 1);
  for (std::uint64_t i = 0; i < 40; ++i) {
    const auto point = sequence.point(i);
    points.push_back({std::ldexp(static_cast<double>(point[0]), -48), std::ldexp(static_cast<double>(point[1]), -48)});
    values.push_back(std::sin(6 * points.back()[0]));
  }
  const Lengths lengths = likely_lengths(points, values, {.lengths = {0.8, 0.8}});
  EXPECT_LT(lengths.lengths[0], lengths.lengths[1]);
  const GaussianProcess process(points, values, lengths);
  EXPECT_NEAR(process.at({0.37, 0.61}).mean, std::sin(6 * 0.37), 0.05);
}

}  // namespace
}  // namespace monet::explore
