// Where something stands in a file, for messages.
#pragma once

#include <memory>
#include <string>

namespace monet {

struct Place {
  std::shared_ptr<const std::string> file;
  int line = 0;  // from 1; 0: nowhere in particular
  int column = 0;

  std::string text() const;  // "file:3:7"
};

}  // namespace monet
