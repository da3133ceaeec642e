// What a server keeps on the disk: everything lies in one folder, under names made from content.
#pragma once

#include <monet/expected.h>
#include <monet/machine.h>
#include <monet/network.h>

#include <string>
#include <utility>

namespace monet::serving {

class ServeFolder {
 public:
  // Made if need be. Empty: $XDG_DATA_HOME/monet, else ~/.local/share/monet.
  static Expected<ServeFolder> open(std::string path);

  const std::string& path() const { return path_; }
  std::string history() const;
  std::string store(const std::string& key) const;  // of an exploration

  // An ONNX file that was sent; gives the name by which `network` finds it: "upload:HASH/NAME".
  Expected<std::string> keep_network(const std::string& bytes, const std::string& name) const;
  // A built-in network, or one that was sent; no file beside these.
  Expected<Network> network(const std::string& name) const;
  // The same as a name for Network: built in, or the path of a file in the folder.
  Expected<std::string> network_name(const std::string& name) const;

  // A preset, or the text of a machine file, which may include presets and no files.
  Expected<Machine> preset(const std::string& name, HardwareParameters parameters) const;
  Expected<Machine> machine(const std::string& yaml, HardwareParameters parameters) const;

 private:
  explicit ServeFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace monet::serving
