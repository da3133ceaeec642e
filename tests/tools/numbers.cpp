// Codes, numbers and quantized tensors, for comparison with other implementations.
//   monet_numbers < questions
// One question a line, one line of answers each; numbers may be hexadecimal (0x1.8p+1), and answers are:
//   encode TYPE NUMBER...          codes of the nearest numbers, saturating
//   decode TYPE CODE...            their numbers
//   round TYPE NUMBER...           nearest numbers, infinite beyond the largest where the type has infinities
//   quantize FORMAT 3x64 NUMBER... the tensor of that shape in that format (format.h)
#include "graph/quantize.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <sstream>

namespace {

using namespace monet;

std::vector<double> numbers(std::istream& words) {
  std::vector<double> read;
  for (std::string word; words >> word;) read.push_back(std::strtod(word.c_str(), nullptr));
  return read;
}

Shape shape_of(const std::string& text) {
  Shape shape;
  std::istringstream sizes(text);
  for (std::string size; std::getline(sizes, size, 'x');) shape.push_back(std::stoll(size));
  return shape;
}

std::string quantized(std::istream& words) {
  std::string name, shape;
  words >> name >> shape;
  const auto format = parse_format(name);
  std::vector<double> values = numbers(words);
  if (!format || element_count(shape_of(shape)) != std::ssize(values)) return "what?";
  quantize(values, shape_of(shape), *format);
  return fmt::format("{:a}", fmt::join(values, " "));
}

std::string answer(const std::string& question) {
  std::istringstream words(question);
  std::string verb, name;
  words >> verb;
  if (verb == "quantize") return quantized(words);
  words >> name;
  const auto type = element_type_named(name);
  if (!type) return "what?";
  std::string text;
  for (const double number : numbers(words)) {
    if (verb == "encode") text += fmt::format("{} ", encoded(number, *type));
    if (verb == "decode") text += fmt::format("{:a} ", decoded(static_cast<std::uint32_t>(number), *type));
    if (verb == "round") text += fmt::format("{:a} ", rounded(number, *type, Rounding::nearest, 0, false));
  }
  return text;
}

}  // namespace

int main() {
  for (std::string question; std::getline(std::cin, question);) std::cout << answer(question) << "\n";
  return 0;
}
