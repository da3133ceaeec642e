// A network as a value: opened once, asked about as often as one likes.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct NetworkGraph;
namespace onnx {
struct ReadOptions;
}

struct NetworkOptions {
  std::optional<std::int64_t> batch;
  std::vector<std::pair<std::string, std::int64_t>> dimensions;
  std::vector<std::string> parameter,
      buffer;                // patterns of tensors that are trained, and that are not: before any guess
  bool fused_norms = false;  // norms that the file spells out are one operator each; else they run and save as written
};

// The name of a built-in network with options ("gpt2:layers=2,width=384"), or an ONNX file. It is read when it is first
// needed, once for each choice of NetworkOptions; copies share what was read, and may be used by several threads.
class Network {
 public:
  Network() = default;
  // NOLINTBEGIN(google-explicit-constructor): a name stands for its network
  Network(std::string name);
  Network(const char* name) : Network(std::string(name)) {}
  // NOLINTEND(google-explicit-constructor)

  // Read at once: fails where there is no such network, or it cannot be read.
  static Expected<Network> open(std::string name, const NetworkOptions& options = {});

  const std::string& name() const { return name_; }

  // For the library itself.
  Expected<std::shared_ptr<const NetworkGraph>> graph(const onnx::ReadOptions& options) const;

 private:
  struct Read;
  std::string name_;
  std::shared_ptr<Read> read_;
};

}  // namespace monet
