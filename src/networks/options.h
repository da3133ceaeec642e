// Sizes of a built-in network: options that describe themselves, and their values as a user writes them.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace monet {

struct OptionInfo {
  std::string name;
  std::string meaning;
  std::int64_t default_value;
  std::int64_t smallest;
  std::int64_t largest;
};

class OptionValues {
 public:
  // Every option at its default.
  explicit OptionValues(std::span<const OptionInfo> options);

  void set(std::string_view name, std::int64_t value);
  // Requires that the network has the option.
  std::int64_t operator[](std::string_view name) const;
  bool is_on(std::string_view name) const { return (*this)[name] != 0; }

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

// Reads "layers=2,width=384". Errors have no place: the caller knows what the user wrote.
Expected<OptionValues> parse_options(std::string_view text, std::string_view network,
                                     std::span<const OptionInfo> options);

// Whether `value` lies in the option's range; the error says which range that is.
Status check_range(const OptionInfo& option, std::int64_t value);

}  // namespace monet
