#include <monet/error.h>

#include "base/text.h"

namespace monet {

std::string Error::text() const {
  std::string text;
  if (!place.empty()) text += place + ": ";
  text += message;
  if (!advice.empty()) text += " (" + advice + ")";
  return for_terminal(text);
}

}  // namespace monet
