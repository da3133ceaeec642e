// Text of JSON, piece by piece: for many numbers and few names.
#pragma once

#include "present/json/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace monet {

class DetailsText {
 public:
  void open(std::string_view key, char bracket) {
    name(key);
    text_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  void add(std::string_view key, std::int64_t value) { name(key), append(value); }
  void add(std::string_view key, double value) { name(key), append(value); }
  void add(std::string_view key, std::string_view value) { name(key), append(value); }
  void add_json(std::string_view key, const Json& value) { name(key), append_json(value); }

  // "key":[value(0), …, value(count - 1)]; numbers or strings.
  template <class Value>
  void column(std::string_view key, std::size_t count, const Value& value) {
    open(key, '[');
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text_ += ',';
      append(value(i));
    }
    close(']');
  }

  std::string take() { return std::move(text_); }

 private:
  // Empty: an element of a list.
  void name(std::string_view key) {
    if (!first_) text_ += ',';
    first_ = false;
    if (!key.empty()) fmt::format_to(std::back_inserter(text_), "\"{}\":", key);
  }
  void append(std::int64_t value) {
    const fmt::format_int digits(value);
    text_.append(digits.data(), digits.size());
  }
  // A whole number as one; what is no number as null.
  void append(double value) {
    constexpr double exact = 9007199254740992;  // 2^53
    if (!std::isfinite(value)) {
      text_ += "null";
    } else if (value == std::floor(value) && std::abs(value) < exact) {
      append(static_cast<std::int64_t>(value));
    } else {
      fmt::format_to(std::back_inserter(text_), "{}", value);
    }
  }
  // Names in a file may be any bytes; what is not UTF-8 is replaced.
  void append(std::string_view value) { append_json(Json(value)); }
  void append_json(const Json& value) { text_ += value.dump(-1, ' ', false, Json::error_handler_t::replace); }

  std::string text_;
  bool first_ = true;
};

// Different strings, in the order in which they come.
class StringTable {
 public:
  std::int64_t index(const std::string& text) {
    const auto [at, is_new] = index_.try_emplace(text, static_cast<std::int64_t>(strings_.size()));
    if (is_new) strings_.push_back(&at->first);
    return at->second;
  }
  void write(DetailsText& out, std::string_view key) const {
    out.column(key, strings_.size(), [&](std::size_t i) { return std::string_view(*strings_[i]); });
  }

 private:
  std::unordered_map<std::string, std::int64_t> index_;
  std::vector<const std::string*> strings_;
};

}  // namespace monet
