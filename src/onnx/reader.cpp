#include "onnx/reader.h"

#include "base/mapped_file.h"
#include "base/suggest.h"
#include "base/try.h"
#include "graph/compact.h"
#include "graph/verify.h"
#include "onnx/idioms.h"
#include "onnx/importer.h"
#include "onnx/own_notes.h"
#include "onnx/provenance.h"
#include "onnx/roles.h"
#include "onnx/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

namespace monet::onnx {

namespace {

// Newer files are read as long as every operator in them is known: operators rarely change their meaning.
constexpr std::int64_t newest_checked_opset = 23;
constexpr std::int64_t first_opset_with_gelu = 20;
constexpr std::int64_t first_opset_with_layer_norm = 17;

Error file_error(std::string message, std::string advice) {
  return {.message = std::move(message), .place = {}, .advice = std::move(advice)};
}

// What the inputs of a file leave open, in order of appearance.
struct OpenDimensions {
  std::vector<std::string> symbols;
  std::string batch_symbol;      // of the first axis of the first input; empty when it is fixed
  std::int64_t fixed_batch = 0;  // when it is fixed
  bool has_batch = false;
};

OpenDimensions open_dimensions(const RawModel& model) {
  OpenDimensions open;
  std::set<Text> initializers;
  std::set<std::string> seen;
  for (const RawTensor& tensor : model.graph.initializers) initializers.insert(tensor.name);
  for (const RawValue& input : model.graph.inputs) {
    if (initializers.contains(input.name)) continue;
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      const RawDimension& dimension = input.dims[axis];
      const bool batch = axis == 0 && !open.has_batch;
      if (batch) open.has_batch = true;
      if (dimension.has_value) {
        if (batch) open.fixed_batch = dimension.value;
        continue;
      }
      std::string symbol =
          dimension.symbol.empty() ? fmt::format("{}:{}", input.name, axis) : std::string(dimension.symbol);
      if (batch) open.batch_symbol = symbol;
      if (seen.insert(symbol).second) open.symbols.push_back(std::move(symbol));
    }
  }
  return open;
}

Expected<Bindings> bind(const OpenDimensions& open, const ReadOptions& options, std::vector<std::string>& notes) {
  Bindings bindings;
  bindings.roles = options.roles;
  if (options.batch && *options.batch < 1)
    return file_error(fmt::format("a batch of {} is impossible", *options.batch), "give a positive whole number");
  for (const auto& [name, size] : options.dimensions) {
    if (size < 1)
      return file_error(fmt::format("dimension '{}' cannot be {}", name, size), "give a positive whole number");
    if (std::ranges::find(open.symbols, name) == open.symbols.end()) {
      const std::string guess = nearest(name, open.symbols);
      std::string advice = open.symbols.empty() ? "all its dimensions are fixed"
                                                : fmt::format("it has {}", fmt::join(open.symbols, ", "));
      if (!guess.empty()) advice = fmt::format("did you mean '{}'?", guess);
      return file_error(fmt::format("the model has no symbolic dimension '{}'", name), std::move(advice));
    }
    if (!bindings.symbols.emplace(name, size).second && bindings.symbols[name] != size) {
      return file_error(fmt::format("dimension '{}' is given twice", name), "give it once");
    }
  }
  if (options.batch && !open.has_batch)
    return file_error("the model has no input with a batch axis", "leave --batch out");
  if (options.batch && !open.batch_symbol.empty()) {
    const auto [at, inserted] = bindings.symbols.emplace(open.batch_symbol, *options.batch);
    if (!inserted && at->second != *options.batch) {
      return file_error(fmt::format("--batch and --dim {} disagree", open.batch_symbol), "give one of them");
    }
  } else if (options.batch && *options.batch != open.fixed_batch) {
    bindings.batch = options.batch;
  }
  for (const std::string& symbol : open.symbols) {
    if (bindings.symbols.emplace(symbol, 1).second)
      notes.push_back(fmt::format("dimension '{}' is not given and taken as 1", symbol));
  }
  return bindings;
}

struct Imported {
  Graph graph;
  std::unordered_set<TensorId> initializers;
  std::vector<std::string> warnings;
  std::size_t merged_initializers = 0;
};

Expected<Imported> import(const FlatModel& flat, const std::string& folder, const Bindings& bindings,
                          BatchRecord* record, const BatchCorrection* correction) {
  Importer importer(flat, folder, bindings, record, correction);
  MONET_TRY(Graph graph, importer.run());
  return Imported{std::move(graph), importer.initializers(), std::move(importer.warnings),
                  importer.merged_initializers};
}

// Whether every output that had the old batch in front has the new one: something with the batch written in may have
// been left as it was, and fit nevertheless.
bool follows_batch(const Graph& original, const Graph& changed, std::int64_t from, std::int64_t to) {
  for (std::size_t i = 0; i < original.outputs.size(); ++i) {
    const Shape& before = original[original.outputs[i]].type.shape;
    const Shape& after = changed[changed.outputs[i]].type.shape;
    if (!before.empty() && from > 1 && before[0] == from && (after.empty() || after[0] != to)) return false;
  }
  return true;
}

// A file with its batch baked in: once as it is, to see where, then with the new one. What is expanded to the old batch
// may be a table that needs no batch at all, so that is left alone first.
Expected<Imported> import_rebatched(const FlatModel& flat, const std::string& folder, const Bindings& bindings,
                                    std::int64_t from, std::vector<std::string>& notes) {
  Bindings as_is = bindings;
  as_is.batch.reset();
  BatchCorrection correction{.record = {}, .from = from, .to = *bindings.batch, .expand = false};
  MONET_TRY(Imported original, import(flat, folder, as_is, &correction.record, nullptr));
  auto result = import(flat, folder, bindings, nullptr, &correction);
  if (!result) {
    correction.expand = true;
    auto again = import(flat, folder, bindings, nullptr, &correction);
    if (again) result = std::move(again);
  }
  if (result && !follows_batch(original.graph, result->graph, from, *bindings.batch))
    result = file_error("an output keeps the old batch", {});
  if (!result) {
    Error error = result.error();
    error.message = fmt::format("the model is fixed to a batch of {} and cannot be given {}: {}", from, *bindings.batch,
                                error.message);
    error.advice = "export it with a dynamic batch dimension";
    return error;
  }
  notes.push_back(fmt::format("the file has a batch of {} baked in; it was changed to {}", from, *bindings.batch));
  return result;
}

// Whether an initializer holds a mask, by its values.
std::function<std::optional<bool>(const std::string&)> mask_test(const RawModel& raw, const std::string& folder) {
  return [&raw, folder](const std::string& name) -> std::optional<bool> {
    const auto found = std::ranges::find(raw.graph.initializers, name, &RawTensor::name);
    return found == raw.graph.initializers.end() ? std::nullopt : holds_mask(*found, folder);
  };
}

}  // namespace

Expected<NetworkGraph> read_bytes(std::string_view bytes, const std::string& folder, const ReadOptions& options) {
  MONET_TRY(RawModel raw, decode_model(bytes));
  MONET_TRY(const FlatModel flat, flatten(raw));
  NetworkGraph network;
  for (const RawOpset& opset : raw.opsets) {
    if (!opset.domain.empty() || opset.version <= newest_checked_opset) continue;
    network.notes.push_back(
        fmt::format("it uses ONNX operator set {}; up to {} the operators are checked against their definition",
                    opset.version, newest_checked_opset));
  }
  const OpenDimensions open = open_dimensions(raw);
  MONET_TRY(const Bindings bindings, bind(open, options, network.notes));
  if (bindings.batch && open.fixed_batch < 1)
    return file_error(fmt::format("its inputs have a batch of {}", open.fixed_batch), "export it again");
  const bool own = has_own_notes(raw);
  if (own && bindings.batch)
    return file_error(fmt::format("the file was written for a batch of {}", open.fixed_batch),
                      "give --batch when it is written");
  MONET_TRY(Imported imported, bindings.batch
                                   ? import_rebatched(flat, folder, bindings, open.fixed_batch, network.notes)
                                   : import(flat, folder, bindings, nullptr, nullptr));
  network.warnings = std::move(imported.warnings);
  if (imported.merged_initializers > 0) {
    network.notes.push_back(
        fmt::format("{} initializers were merged with others of equal value when this file was exported; they are "
                    "taken apart again",
                    imported.merged_initializers));
  }
  network.is_training_step = own ? apply_own_notes(flat, imported.graph) : assign_phases(imported.graph);
  // A file of our own is spelt out by the writer.
  const auto has_operators_of = [&](std::int64_t version) {
    return !own && std::ranges::any_of(raw.opsets, [&](const RawOpset& opset) {
      return opset.domain.empty() && opset.version >= version;
    });
  };
  if (options.recognize_idioms) {
    const std::size_t norms = recognize_idioms(
        imported.graph, {.gelus = has_operators_of(first_opset_with_gelu),
                         .layer_norms = !options.fused_norms && has_operators_of(first_opset_with_layer_norm),
                         .rms_norms = !options.fused_norms && !own});
    if (norms > 0) {
      network.notes.push_back(
          fmt::format("{} spelt out in the file and run as written; --fused-norms takes each for one operator",
                      norms == 1 ? "1 norm is" : fmt::format("{} norms are", norms)));
    }
  }
  const Signature signature = signature_of(raw);
  if (!own) {
    assign_roles(imported.graph, imported.initializers, signature, network.is_training_step, network.notes,
                 {.choice = &options.roles, .is_mask = mask_test(raw, folder)});
  }
  network.graph = compact(std::move(imported.graph));
  MONET_RETURN_IF_ERROR(verify(network.graph));
  for (std::string& warning : provenance_warnings(flat, signature, network.graph))
    network.warnings.push_back(std::move(warning));
  return network;
}

Expected<NetworkGraph> read(const std::string& path, const ReadOptions& options) {
  MONET_TRY(const MappedFile file, MappedFile::open(path));
  auto network = read_bytes(file.bytes(), std::filesystem::path(path).parent_path().string(), options);
  // Before what was found in it, which may be of a file that never was.
  MONET_RETURN_IF_ERROR(file.unchanged());
  if (!network) {
    Error error = network.error();
    error.place = error.place.empty() ? path : fmt::format("{}: {}", path, error.place);
    return error;
  }
  return network;
}

}  // namespace monet::onnx
