// What a picture of a machine shows, before it is laid out: equal cores together, equal clusters as one.
#pragma once

#include "hardware/hardware.h"

#include <string>
#include <vector>

namespace monet {

// A memory inside a core, or one of the system.
struct PictureMemory {
  std::string key;    // names of its clusters without their numbers, and its own
  std::string label;  // "2 x hbm"
  std::string size;   // "80 GB", "256 x 16 bit"
  MemoryKind kind = MemoryKind::sram;
  bool off_chip = false;
};

struct PictureGroup {
  std::string type;
  std::string title;                    // "16 x pe"
  std::vector<std::string> work;        // "array K 64 x C 4"
  std::vector<PictureMemory> memories;  // of each core, highest first
  std::int64_t gang = 1;
  std::vector<std::string> names;  // of the cores of the first cluster
  std::size_t rows = 1, columns = 1;
  bool snake = false;  // every other row runs from right to left
  struct Wire {
    std::size_t from, to;  // among `names`
  };
  std::vector<Wire> wires;
  std::string wiring;  // "24 links of 32 bit/cycle"; empty: none
};

// Joins groups (first) and memories of the system (after them), by index.
struct PictureNet {
  std::string label;
  enum class Kind : std::uint8_t { link, bus, direct } kind = Kind::link;
  std::vector<std::size_t> ends;  // sorted
};

struct Picture {
  std::string title, subtitle;
  std::int64_t chips = 1;
  std::string chip_name;  // of the clusters, where there are several
  std::vector<PictureGroup> groups;
  std::vector<PictureMemory> memories;
  std::vector<PictureNet> nets;
};

Picture picture_of(const Hardware& hardware);

}  // namespace monet
