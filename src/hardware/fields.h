// Reading the keys of one block: each is in the block's table (hardware/keys.h), has the form that the table says, and
// what it states is noted with its source.
#pragma once

#include "config/check_keys.h"
#include "config/parameters.h"
#include "config/yaml.h"
#include "hardware/hardware.h"
#include "hardware/keys.h"

#include <optional>

namespace monet {

// What a block takes from those around it.
struct Context {
  std::string part;  // "core pe: memory sram"
  double clock_hz = 0;
  double technology_nm = 0;  // 0: not stated
  std::string source;
  char confidence = '-';
};

class Fields {
 public:
  // The node has passed check_keys. A clock, technology or source that the block states holds from here on.
  static Expected<Fields> open(const Yaml& node, const Block& block, Context context, const Parameters& parameters,
                               std::vector<Origin>& origins);

  const Context& context() const { return context_; }
  const Parameters& parameters() const { return *parameters_; }
  const Yaml& node() const { return *node_; }
  // The value of a key, out of its {value: …}; null: absent.
  const Yaml* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  Place place(std::string_view name) const;  // of its value, or of the block when absent
  Error error(std::string_view name, std::string message, std::string advice = {}) const;

  std::string text(std::string_view name) const;  // empty: absent
  std::vector<const Yaml*> names(std::string_view name) const;
  Expected<bool> boolean(std::string_view name, bool otherwise) const;
  // Numbers are finite and from `least` up.
  Expected<std::optional<double>> number(std::string_view name, double least = 0) const;
  Expected<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least, std::int64_t most) const;
  Expected<std::vector<std::int64_t>> integers(std::string_view name, std::int64_t most) const;
  // In the unit of the key's measure; cycles are the block's own. Not negative. Noted in the origins.
  Expected<std::optional<double>> quantity(std::string_view name) const { return quantity(name, name); }
  // The same, under another name in the origins.
  Expected<std::optional<double>> quantity(std::string_view name, std::string_view noted_as) const;
  // A number of cycles, or a time.
  Expected<std::optional<double>> cycles(std::string_view name) const;

  // One value of a key, evaluated and converted to the key's measure.
  Expected<double> convert_value(const Yaml& value, Measure measure) const;
  void note(std::string_view quantity, const std::string& value, const Yaml* stated) const;
  void note_derived(std::string_view quantity, double value, Measure measure, const std::string& source,
                    char confidence) const;

 private:
  Fields(const Yaml& node, const Block& block, const Parameters& parameters, std::vector<Origin>& origins)
      : node_(&node), block_(&block), parameters_(&parameters), origins_(&origins) {}

  const Key& key(std::string_view name) const;

  const Yaml* node_;
  const Block* block_;
  const Parameters* parameters_;
  std::vector<Origin>* origins_;
  Context context_;
};

}  // namespace monet
