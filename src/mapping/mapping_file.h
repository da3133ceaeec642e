// ZigZag's mapping files: how to unroll a layer over the array, and the order of its loops, by layer, operator or
// default. Loops keep the names they have there (B, K, G, C, OX, OY, FX, FY, D, H, D0 …).
#pragma once

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet {

struct MappingFile {
  // A loop of an order: its name and size; nothing stands for "*", whatever fits.
  struct OrderedLoop {
    std::optional<std::string> loop;
    std::optional<std::int64_t> size;
    bool operator==(const OrderedLoop&) const = default;
  };

  struct Entry {
    std::string name;  // of a layer, of an operator, or "default"
    // By dimension of the array (D1 first): the loops unrolled along it and how far. Empty: to be searched.
    std::vector<std::vector<std::pair<std::string, double>>> spatial;
    // By dimension: the loops that a search may unroll there. Empty: any.
    std::vector<std::vector<std::string>> hints;
    std::vector<OrderedLoop> order;  // innermost first; empty: to be searched
    // Not in ZigZag's format: loops that must run inside what a memory holds of an operand (I, W, O).
    struct Level {
      std::string operand;
      std::string memory;
      std::vector<std::string> loops;
      bool operator==(const Level&) const = default;
    };
    std::vector<Level> levels;
    // The memory operand (I1, I2, O) of the layer's I, W and O.
    std::array<std::string, 3> memory_operands = {"I1", "I2", "O"};
    std::string place;  // file:line:column
  };

  std::vector<Entry> entries;
  std::vector<std::string> notes;

  // The entry of that layer, else of that operator, else "default"; null: none of them is there.
  const Entry* find(std::string_view layer, std::string_view op) const;
};

Expected<MappingFile> read_mapping_file(const std::string& path);
Expected<MappingFile> read_mapping_text(std::string_view text, const std::string& path);

// Fails for an entry that names dimensions which an array of that many does not have.
Status check_dimensions(const MappingFile::Entry& entry, std::size_t dimensions);

}  // namespace monet
