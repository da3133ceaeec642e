#include "graph/attributes.h"

#include "base/require.h"

#include <algorithm>
#include <array>

namespace monet {

std::string_view name_of(Attr key) {
  static constexpr std::array names = {
#define X(name) std::string_view(#name),
      MONET_ATTRIBUTES(X)
#undef X
  };
  return names[static_cast<std::size_t>(key)];
}

Attributes::Attributes(std::initializer_list<std::pair<Attr, AttributeValue>> entries) {
  for (const auto& [key, value] : entries) set(key, value);
}

void Attributes::set(Attr key, AttributeValue value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                                   [](const auto& entry, Attr wanted) { return entry.first < wanted; });
  if (at != entries_.end() && at->first == key) {
    at->second = std::move(value);
  } else {
    entries_.emplace(at, key, std::move(value));
  }
}

const AttributeValue* Attributes::find(Attr key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return &value;
  }
  return nullptr;
}

namespace {

template <class T>
const T& get(const AttributeValue* value) {
  MONET_REQUIRE(value != nullptr && std::holds_alternative<T>(*value));
  return std::get<T>(*value);
}

}  // namespace

std::int64_t Attributes::integer(Attr key) const { return get<std::int64_t>(find(key)); }
double Attributes::real(Attr key) const { return get<double>(find(key)); }
const std::string& Attributes::text(Attr key) const { return get<std::string>(find(key)); }
const std::vector<std::int64_t>& Attributes::integers(Attr key) const {
  return get<std::vector<std::int64_t>>(find(key));
}
const std::vector<double>& Attributes::reals(Attr key) const { return get<std::vector<double>>(find(key)); }

std::int64_t Attributes::integer_or(Attr key, std::int64_t otherwise) const {
  return has(key) ? integer(key) : otherwise;
}
double Attributes::real_or(Attr key, double otherwise) const { return has(key) ? real(key) : otherwise; }

}  // namespace monet
