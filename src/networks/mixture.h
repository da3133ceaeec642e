// Mixture of experts: each token goes through some of many feed-forward parts, which a router chooses.
#pragma once

#include "graph/builder.h"
#include "networks/options.h"

#include <string>
#include <vector>

namespace monet::networks {

struct Mixture {
  std::int64_t experts;
  std::int64_t chosen;    // of them, for each token
  std::int64_t capacity;  // tokens of a sample that an expert can take, in per cent of an even share
  std::int64_t shared;    // further experts, which every token goes through
  std::int64_t inner;     // features inside an expert
  // Scores are sigmoids, those chosen divided by their sum and multiplied by this. 0: a softmax over those chosen.
  double sigmoid_factor = 0;
};

struct MixtureDefaults {
  std::int64_t experts, chosen, shared, inner;
};
std::vector<OptionInfo> mixture_options(const MixtureDefaults& defaults);
// Fails if more experts are to be chosen than there are.
Expected<Mixture> mixture(const OptionValues& values);

// Rows of an expert for each sample: its capacity, at most all tokens.
std::int64_t expert_rows(const Mixture& mixture, std::int64_t tokens);

// The experts are one product over the loop of experts, [experts, batch · rows, width] x [experts, width, inner]: an
// expert takes the tokens of each sample that weigh most with it, as many as it has rows; tokens beyond are dropped,
// and rows that no token needs weigh 0. What is chosen depends on data, sizes do not. With batch · tokens in samples
// the choice is made within each sample. x: [batch, tokens, width].
TensorId mixture_of_experts(GraphBuilder& builder, const std::string& name, TensorId x, const Mixture& mixture);

}  // namespace monet::networks
