#include "compat/import/import.h"

#include "base/try.h"
#include "compat/import/foreign_system.h"
#include "compat/import/stream.h"
#include "compat/import/stream_mapping.h"
#include "hardware/check.h"

#include <fmt/format.h>

namespace monet {

namespace {

Expected<Hardware> import_core(const YamlDocument& document) {
  MONET_TRY(const ZigzagCore core, read_zigzag_core(document.root));
  if (!core.computes) {
    return document.root.error("the core has an array of size 0: it is a memory, not an accelerator",
                               "import the system that uses it");
  }
  ForeignSystem build(core.name);
  const std::string name = foreign_name(core.name);
  build.add_core(core, name, name, {});
  build.add_notes("", document.repeated);
  build.add_notes("", core.notes);
  build.hardware.notes.emplace_back("no clock is stated: times are in cycles");
  return std::move(build.hardware);
}

}  // namespace

namespace {

Expected<Hardware> import_any(const std::string& text, const std::string& path, const FileReader& read,
                              const ImportOptions& options) {
  MONET_TRY(const YamlDocument document, parse_foreign_yaml(text, path));
  if (document.root.find("cores") != nullptr) {
    MONET_TRY(StreamSystem system, read_stream_system(document, path, read));
    if (options.mapping.empty()) return std::move(system.hardware);
    MONET_TRY(const std::string mapping_text, read(options.mapping));
    MONET_TRY(const YamlDocument mapping_document, parse_foreign_yaml(mapping_text, options.mapping));
    MONET_TRY(const StreamMapping mapping, read_stream_mapping(mapping_document));
    MONET_RETURN_IF_ERROR(assign_operators(system, mapping, options.mapping));
    return std::move(system.hardware);
  }
  if (document.root.find("memories") == nullptr) {
    return Error{.message = "this is neither a ZigZag accelerator nor a Stream system",
                 .place = path,
                 .advice = "the first has keys 'memories' and 'operational_array', the second 'cores'"};
  }
  if (!options.mapping.empty()) {
    return Error{.message = "a mapping of cores goes with a Stream system, not with a single core",
                 .place = options.mapping,
                 .advice = "leave the mapping out"};
  }
  return import_core(document);
}

}  // namespace

Expected<Hardware> import_hardware_text(const std::string& text, const std::string& path, const FileReader& read,
                                        const ImportOptions& options) {
  MONET_TRY(Hardware hardware, import_any(text, path, read, options));
  for (std::string& doubt : doubts(hardware)) hardware.notes.push_back(std::move(doubt));
  return hardware;
}

Expected<Hardware> import_hardware(const std::string& path, const ImportOptions& options) {
  MONET_TRY(const std::string text, read_foreign_text(path));
  return import_hardware_text(text, path, read_foreign_text, options);
}

}  // namespace monet
