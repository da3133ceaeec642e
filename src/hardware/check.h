// Whether a Hardware makes sense: what a reader of any format must not let through.
#pragma once

#include "config/yaml.h"
#include "hardware/hardware.h"

namespace monet {

// Where the parts stand in the file, by their ids; empty where nobody knows.
struct HardwarePlaces {
  Place machine;
  std::vector<Place> cores;
  std::vector<std::vector<Place>> levels;  // by core
  std::vector<Place> memories;
  std::vector<std::vector<Place>> ports;  // by memory
  std::vector<Place> links;
};

// The first thing that is wrong: a memory that nothing uses, a core that nobody can reach, ports that do not exist or
// are of the wrong kind, a path without a memory, levels in the wrong order, sizes and costs that cannot be.
Status check(const Hardware& hardware, const HardwarePlaces& places = {});

// What is possible and probably a slip, in words: a memory that serves fewer dimensions than one below it.
std::vector<std::string> doubts(const Hardware& hardware);

}  // namespace monet
