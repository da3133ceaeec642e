// The parameters of a family of machines, and the values of scalars that may depend on them.
#pragma once

#include "config/units.h"
#include "config/words.h"
#include "config/yaml.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace monet {

class Parameters {
 public:
  // `block` is the file's table of parameters, null: none. `chosen` as in HardwareOptions.
  static Expected<Parameters> read(const Yaml* block, const std::vector<std::pair<std::string, std::string>>& chosen,
                                   const std::string& file);

  // Value of a scalar: a number, a quantity, an expression (= x * 2). The error has the scalar's place.
  Expected<Quantity> evaluate(const Yaml& scalar) const { return evaluate(scalar, chosen_, words_); }
  // The same with the defaults of all parameters.
  Expected<Quantity> evaluate_default(const Yaml& scalar) const { return evaluate(scalar, defaults_, words_); }
  // `text` with the names of parameters that are numbers replaced by their values.
  std::string substitute(const std::string& text) const;

  bool has(const std::string& name) const { return chosen_.contains(name) || words_.find(name) != nullptr; }
  // Name and value, in the order of the file.
  const std::vector<std::pair<std::string, std::string>>& texts() const { return texts_; }

 private:
  using Values = std::map<std::string, Quantity, std::less<>>;
  friend class ParameterReader;

  static Expected<Quantity> evaluate(const Yaml& scalar, const Values& values, const Words& words);

  Values chosen_;
  Values defaults_;
  Words words_;
  std::vector<std::pair<std::string, std::string>> texts_;
};

// An expression starts with = and refers to parameters.
bool is_expression(const Yaml& scalar);
// An error at a place, from one that has a message alone.
Error placed(Error error, const Place& place);

}  // namespace monet
