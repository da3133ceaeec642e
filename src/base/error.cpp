#include <monet/error.h>

namespace monet {

std::string Error::text() const {
  std::string text;
  if (!place.empty()) text += place + ": ";
  text += message;
  if (!advice.empty()) text += " (" + advice + ")";
  return text;
}

}  // namespace monet
