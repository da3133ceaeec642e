#include "base/embedded.h"

#include "base/require.h"

#include <algorithm>

namespace monet {

std::string_view embedded_text(std::string_view path) {
  const auto files = embedded_files();
  const auto found = std::ranges::find(files, path, &EmbeddedFile::path);
  MONET_REQUIRE(found != files.end());
  return found->text;
}

}  // namespace monet
