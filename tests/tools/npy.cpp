#include "tools/npy.h"

#include <fmt/format.h>
#include <algorithm>

#include <cstdint>
#include <fstream>
#include <sstream>

namespace monet::tools {

Expected<Array> load_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  const std::string bytes = content.str();
  const auto refuse = [&path](const char* why) { return Error{.message = why, .place = path, .advice = {}}; };
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY")) return refuse("not a .npy file");
  const std::size_t header = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  const std::string description = bytes.substr(10, header);
  if (description.find("'<f8'") == std::string::npos ||
      description.find("'fortran_order': False") == std::string::npos) {
    return refuse("not float64 in C order");
  }
  Shape shape;
  const auto open = description.find('(');
  std::stringstream sizes(description.substr(open + 1, description.find(')') - open - 1));
  for (std::string size; std::getline(sizes, size, ',');) {
    if (size.find_first_of("0123456789") != std::string::npos) shape.push_back(std::stoll(size));
  }
  Array array = Array::zeros(shape);
  if (bytes.size() != 10 + header + array.values.size() * sizeof(double)) return refuse("wrong size");
  std::copy_n(bytes.data() + 10 + header, array.values.size() * sizeof(double),
              reinterpret_cast<char*>(array.values.data()));
  return array;
}

void save_npy(const std::string& path, const Array& array) {
  std::string sizes;
  for (std::int64_t size : array.shape) sizes += fmt::format("{}, ", size);
  std::string description = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", sizes);
  while ((description.size() + 11) % 64 != 0) description += ' ';
  description += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(description.size() & 0xff)
       << static_cast<char>(description.size() >> 8) << description;
  file.write(reinterpret_cast<const char*>(array.values.data()),
             static_cast<std::streamsize>(array.values.size() * sizeof(double)));
}

}  // namespace monet::tools
