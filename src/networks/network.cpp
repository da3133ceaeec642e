#include "base/try.h"
#include "networks/open.h"

#include <monet/network.h>

#include <deque>
#include <mutex>

namespace monet {

namespace {

// A network is rarely asked for in more sizes than this at a time; older ones are read again.
constexpr std::size_t most_kept = 4;

}  // namespace

struct Network::Read {
  std::mutex mutex;
  struct Entry {
    onnx::ReadOptions options;
    std::shared_ptr<const NetworkGraph> graph;
  };
  std::deque<Entry> entries;
};

Network::Network(std::string name) : name_(std::move(name)), read_(std::make_shared<Read>()) {}

Expected<Network> Network::open(std::string name, const NetworkOptions& options) {
  Network network(std::move(name));
  MONET_RETURN_IF_ERROR(network.graph(read_options(options)));
  return network;
}

Expected<std::shared_ptr<const NetworkGraph>> Network::graph(const onnx::ReadOptions& options) const {
  if (!read_) return Error{.message = "no network is given", .place = {}, .advice = "give its name or file"};
  const std::lock_guard lock(read_->mutex);
  for (const Read::Entry& entry : read_->entries) {
    if (entry.options == options) return entry.graph;
  }
  MONET_TRY(NetworkGraph opened, open_network(name_, options));
  read_->entries.push_back({options, std::make_shared<const NetworkGraph>(std::move(opened))});
  if (read_->entries.size() > most_kept) read_->entries.pop_front();
  return read_->entries.back().graph;
}

}  // namespace monet
