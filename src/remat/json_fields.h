// JSON with errors that say where. For the readers of this folder only: the library takes seconds to compile.
#pragma once

#include <monet/expected.h>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace monet::remat {

using Json = nlohmann::json;

// Fails for text that is not JSON, with line and column; for one of more than 16 MiB or nested deeper than 64.
Expected<Json> parse_json(std::string_view text, const std::string& file);

// A value and its place in the file, as in x.json: nodes[3].cost_ram.
class Field {
 public:
  // The whole of a file.
  Field(const Json& value, std::string file) : value_(&value), place_(std::move(file)), separator_(": ") {}

  const Json& value() const { return *value_; }
  const std::string& place() const { return place_; }
  bool has(const char* key) const { return value_->is_object() && value_->contains(key); }

  // Fail with the place where it is absent or of another kind.
  Expected<Field> at(const char* key) const;
  Field at(std::size_t index) const;
  Expected<std::size_t> list_size(std::size_t most) const;
  // Finite and from 0 on.
  Expected<double> amount() const;
  // A whole number from 0 to 2^53, which a double holds exactly.
  Expected<std::int64_t> bytes() const;
  // A whole number or a text, as a text.
  Expected<std::string> id() const;

  Error wrong(const std::string& message, const std::string& advice) const {
    return Error{.message = message, .place = place_, .advice = advice};
  }

 private:
  Field(const Json& value, std::string place, const char* separator)
      : value_(&value), place_(std::move(place)), separator_(separator) {}

  const Json* value_;
  std::string place_;
  const char* separator_;  // from the place to a key in it
};

}  // namespace monet::remat
