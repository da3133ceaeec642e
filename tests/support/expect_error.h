// What an error must say: whose fault, the words that matter, where, and what to do.
#pragma once

#include <monet/error.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace monet::test {

inline void expect_error(const Error& error, const std::vector<std::string>& words, const std::string& place = {},
                         bool advises = true) {
  EXPECT_EQ(error.kind, ErrorKind::user);
  for (const std::string& word : words)
    EXPECT_NE(error.message.find(word), std::string::npos) << "'" << word << "' is not in: " << error.text();
  EXPECT_NE(error.place.find(place), std::string::npos) << "'" << place << "' is not in: " << error.place;
  EXPECT_TRUE(!error.advice.empty() || !advises) << error.text();
}

}  // namespace monet::test
