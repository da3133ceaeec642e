// Tables of the keys that a file may have: its reader accepts what stands there and nothing else, and its JSON schema
// is written from it.
#pragma once

#include "config/units.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

// How a value is written. Every form that is one value may also be written {value: …, source: …, confidence: …}, and,
// where it is a number or a quantity, as an expression (= x * 2).
enum class Form : std::uint8_t {
  text,
  names,      // one text or a list of them
  choice,     // one of `choices`
  boolean,    // true or false
  integer,    // a whole number
  integers,   // a list of whole numbers
  number,     // without a unit
  cycles,     // a number, or a time
  quantity,   // a number with a unit that fits `measure`
  range,      // one quantity or two: 64..512 bit/cycle, [64 bit/cycle, 512 bit/cycle]
  parameter,  // any number or quantity
  block,      // a block of the keys in `block`
  blocks,     // names chosen by the user, each with a block
  block_list,
};

// Which names a table of blocks may have.
enum class Names : std::uint8_t { any, kinds, precisions };

struct Block;

struct Key {
  std::string_view name;
  Form form = Form::text;
  std::string_view meaning;
  Measure measure = Measure::number;
  const Block& (*block)() = nullptr;
  std::vector<std::string_view> choices = {};
  Names names = Names::any;
  // In place of a block one value will do, as if it had been written for this key of the block; empty: it will not.
  std::string_view short_for = {};
};

struct Block {
  std::string_view name;  // "memory"
  std::vector<Key> keys;

  const Key* find(std::string_view key) const;
  std::vector<std::string> key_names() const;
};

// What every block may state about where its values come from: source, confidence, note.
const std::vector<Key>& provenance_keys();
// {value, source, confidence}
const Block& stated_block();

std::vector<Key> joined(std::initializer_list<std::vector<Key>> parts);

// Names of operations in a file: those of Count, `arithmetic` for a group of simple ones, `all`.
const std::vector<std::string>& kind_names();
// fp32, bf16, int8, mxfp8 …
bool is_precision(std::string_view name);

}  // namespace monet
