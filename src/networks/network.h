// What a family of built-in networks gives to the table of them all.
#pragma once

#include "graph/graph.h"
#include "networks/builtin.h"

#include <vector>

namespace monet::networks {

struct BuiltinNetwork {
  BuiltinInfo info;
  // Values are inside their ranges; what ranges cannot say (width a multiple of heads) the function checks.
  Expected<Graph> (*build)(const BuiltinInfo& info, const OptionValues& values);
};

// The options as listed and `batch`, which every network has.
BuiltinNetwork network(std::string name, std::string description, std::vector<OptionInfo> options,
                       Expected<Graph> (*build)(const BuiltinInfo&, const OptionValues&), std::int64_t batch = 1);

// Options that several families share.
OptionInfo image_option(std::int64_t default_value, std::int64_t smallest);
OptionInfo classes_option(std::int64_t default_value);
OptionInfo rotary_base_option(std::int64_t default_value);
OptionInfo tied_option(bool default_value);
OptionInfo switch_option(std::string name, std::string meaning, bool default_value);

std::vector<BuiltinNetwork> resnet_networks();
std::vector<BuiltinNetwork> mobilenet_networks();
std::vector<BuiltinNetwork> gpt_networks();
std::vector<BuiltinNetwork> llama_networks();
std::vector<BuiltinNetwork> mixture_networks();
std::vector<BuiltinNetwork> deepseek_networks();
std::vector<BuiltinNetwork> nemotron_networks();
std::vector<BuiltinNetwork> gpt2like_networks();
std::vector<BuiltinNetwork> bert_networks();
std::vector<BuiltinNetwork> vit_networks();
std::vector<BuiltinNetwork> lenet_networks();
std::vector<BuiltinNetwork> mlp_networks();
std::vector<BuiltinNetwork> pets_networks();
std::vector<BuiltinNetwork> unet_networks();
std::vector<BuiltinNetwork> fsrcnn_networks();

}  // namespace monet::networks
