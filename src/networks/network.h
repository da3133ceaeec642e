// What a family of built-in networks gives to the table of them all.
#pragma once

#include "graph/graph.h"
#include "networks/builtin.h"

#include <vector>

namespace monet::networks {

struct Network {
  BuiltinInfo info;
  // Values are inside their ranges; what ranges cannot say (width a multiple of heads) the function checks.
  Expected<Graph> (*build)(const BuiltinInfo& info, const OptionValues& values);
};

// The options as listed and `batch`, which every network has.
Network network(std::string name, std::string description, std::vector<OptionInfo> options,
                Expected<Graph> (*build)(const BuiltinInfo&, const OptionValues&), std::int64_t batch = 1);

// Options that several families share.
OptionInfo image_option(std::int64_t default_value, std::int64_t smallest);
OptionInfo classes_option(std::int64_t default_value);
OptionInfo switch_option(std::string name, std::string meaning, bool default_value);

std::vector<Network> resnet_networks();
std::vector<Network> mobilenet_networks();
std::vector<Network> gpt2_networks();
std::vector<Network> gpt2like_networks();
std::vector<Network> bert_networks();
std::vector<Network> vit_networks();
std::vector<Network> lenet_networks();
std::vector<Network> mlp_networks();
std::vector<Network> pets_networks();
std::vector<Network> unet_networks();
std::vector<Network> fsrcnn_networks();

}  // namespace monet::networks
