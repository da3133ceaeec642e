// Parameters that are words, and the parts of a file that depend on them: a block {choose: arithmetic, int8: …, bf16:
// …} stands for what it has under the word that was chosen.
#pragma once

#include "config/yaml.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet {

// A block with the name of a word under `choose`.
bool is_choice(const Yaml& node);

class Words {
 public:
  // The parameters of `block` (null: none) that state `one_of`; `chosen` as in HardwareOptions, where other names are
  // passed over.
  static Expected<Words> read(const Yaml* block, const std::vector<std::pair<std::string, std::string>>& chosen);

  // The word that a parameter has; null: it is no word.
  const std::string* find(std::string_view parameter) const;

  // The tree with every choice replaced. A key whose choice is nothing is left out. What has no choice inside is
  // shared.
  Expected<YamlPtr> choose(const Yaml& tree) const;

 private:
  struct Word {
    std::string chosen;
    std::vector<std::string> options;
  };
  Expected<YamlPtr> replaced(const YamlPtr& node) const;
  Expected<YamlPtr> chosen_of(const Yaml& choice) const;  // null: nothing

  std::map<std::string, Word, std::less<>> words_;
};

}  // namespace monet
