// What passes between the program and monet.cluster: docs/cluster.md.
#pragma once

#include "explore/space/space.h"

#include <monet/expected.h>

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace monet::explore {

constexpr int cluster_protocol = 1;

struct ClusterJob {
  std::string fingerprint;
  std::string space_path;  // absolute for a file
  std::string space_text;
  std::vector<std::string> files;  // absolute paths of those that workers need
};

std::string hello_message(const ClusterJob& job, const std::string& address, double limit_s, int tries);
std::string batch_message(std::uint64_t batch, std::span<const Design> designs);
std::string cancel_message(std::span<const std::uint64_t> batches);
std::string close_message();

struct ReadyMessage {
  int protocol = 0;
  std::string fingerprint;
  std::size_t workers = 0;
};
struct WorkersMessage {
  std::size_t workers = 0;
};
struct OutcomesMessage {
  std::uint64_t batch = 0;
  std::vector<std::string> lines;
  std::vector<std::pair<Design, std::string>> failed;  // and why
  double seconds = 0;                                  // that its worker took
};
using ClusterMessage = std::variant<ReadyMessage, WorkersMessage, OutcomesMessage>;

// An error message of the other end is the error; so is what is none of the messages.
Expected<ClusterMessage> parse_message(const std::string& line);

}  // namespace monet::explore
