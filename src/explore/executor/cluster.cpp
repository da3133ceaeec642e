#include "explore/executor/cluster.h"

#include "base/try.h"
#include "explore/executor/cluster_batches.h"
#include "explore/executor/cluster_files.h"
#include "explore/executor/cluster_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <unordered_set>

namespace monet::explore {

namespace {

constexpr std::chrono::milliseconds stop_interval{100};  // between looks at `stop`
constexpr std::chrono::seconds time_to_start{300};
constexpr std::size_t queued = 2;  // batches for each worker: one that runs, one that waits

std::string python_of(const ClusterOptions& options) {
  if (!options.python.empty()) return options.python;
  const char* named = std::getenv("MONET_PYTHON");
  if (named != nullptr && *named != '\0') return named;
  // In an environment of Python the program lies beside it.
  std::error_code none;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  const bool environment = std::filesystem::exists(folder.parent_path() / "pyvenv.cfg", none);
  return environment && std::filesystem::exists(folder / "python3", none) ? (folder / "python3").string() : "python3";
}

class ClusterExecutor : public Executor {
 public:
  ClusterExecutor(std::unique_ptr<ChildProcess> peer, const ClusterOptions& options)
      : peer_(std::move(peer)),
        python_(python_of(options)),
        place_("--cluster " + options.address),
        sizes_(options.batch_s) {}

  ~ClusterExecutor() override {
    if (!peer_->ended()) peer_->send(close_message());
  }

  Status greet(const ClusterJob& job, const ClusterOptions& options) {
    peer_->send(hello_message(job, options.address, options.hang_s, options.tries));
    const auto until = std::chrono::steady_clock::now() + time_to_start;
    std::optional<std::string> line;
    while (!line && !peer_->ended() && std::chrono::steady_clock::now() < until) {
      if (options.stop && options.stop()) {
        peer_->terminate();
        return Error{.message = "stopped before it was ready", .place = place_};
      }
      line = peer_->next_line(stop_interval);
    }
    if (!line && peer_->ended()) return early_end();
    if (!line) return Error{.message = fmt::format("no answer in {} s", time_to_start.count()), .place = place_};
    MONET_TRY(const ClusterMessage message, parsed(*line));
    const auto* ready = std::get_if<ReadyMessage>(&message);
    if (ready == nullptr) return wrong("monet.cluster does not begin with ready");
    if (ready->protocol != cluster_protocol) {
      return wrong(fmt::format("monet.cluster speaks protocol {}, this program {}", ready->protocol, cluster_protocol));
    }
    if (ready->fingerprint != job.fingerprint) {
      return wrong(fmt::format("workers opened the space with the fingerprint {}, this program with {}",
                               ready->fingerprint, job.fingerprint));
    }
    workers_ = ready->workers;
    return Done{};
  }

  Status run(std::span<const Design> designs, const std::function<Status(Outcome&&)>& done,
             const std::function<bool()>& stop) override {
    Status status = run_all(designs, done, stop);
    abandon();
    return status;
  }

  std::string who() const override { return fmt::format("{} worker{}", workers_, workers_ == 1 ? "" : "s"); }
  std::size_t batch_hint() const override { return std::max<std::size_t>(64, queued * sizes_.wanted()) * at_once(); }

 private:
  std::size_t at_once() const { return std::max<std::size_t>(1, workers_); }

  Status run_all(std::span<const Design> designs, const std::function<Status(Outcome&&)>& done,
                 const std::function<bool()>& stop) {
    while (!designs.empty() || !running_.empty()) {
      if (stop && stop()) return Done{};
      while (!designs.empty() && running_.size() < queued * at_once()) {
        const std::size_t size = sizes_.next(designs.size(), at_once());
        send_batch(designs.first(size));
        designs = designs.subspan(size);
      }
      const std::optional<std::string> line = peer_->next_line(stop_interval);
      if (!line && peer_->ended()) return early_end();
      if (!line) continue;
      MONET_TRY(ClusterMessage message, parsed(*line));
      if (const auto* workers = std::get_if<WorkersMessage>(&message)) workers_ = workers->workers;
      if (std::holds_alternative<ReadyMessage>(message)) return wrong("monet.cluster says ready again");
      if (auto* outcomes = std::get_if<OutcomesMessage>(&message)) MONET_RETURN_IF_ERROR(take(*outcomes, done));
    }
    return Done{};
  }

  void send_batch(std::span<const Design> designs) {
    peer_->send(batch_message(next_batch_, designs));
    running_.emplace(next_batch_++, std::unordered_set<Design>(designs.begin(), designs.end()));
  }

  Status take(const OutcomesMessage& message, const std::function<Status(Outcome&&)>& done) {
    const auto found = running_.find(message.batch);
    if (found == running_.end()) {
      // Answers to what nobody waits for any more may be under way.
      if (message.batch < next_batch_ && abandoned_.contains(message.batch)) return Done{};
      return wrong(fmt::format("monet.cluster answers batch {}, which it has not", message.batch));
    }
    const auto give = [&](Outcome&& outcome) -> Status {
      if (found->second.erase(outcome.design) > 0) return done(std::move(outcome));
      return wrong(fmt::format("monet.cluster answers design {}, which batch {} does not wait for", outcome.design,
                               message.batch));
    };
    for (const std::string& line : message.lines) {
      auto outcome = outcome_from(line);
      if (!outcome) return wrong(outcome.error().message);
      MONET_RETURN_IF_ERROR(give(*std::move(outcome)));
    }
    for (const auto& [design, failure] : message.failed)
      MONET_RETURN_IF_ERROR(give({.design = design, .failure = failure}));
    // What a design that fails takes, a limit of time perhaps, says nothing of the others.
    if (message.failed.empty()) sizes_.learn(message.lines.size(), message.seconds);
    if (found->second.empty()) running_.erase(found);
    return Done{};
  }

  void abandon() {
    if (running_.empty()) return;
    std::vector<std::uint64_t> batches;
    for (const auto& [batch, designs] : running_) batches.push_back(batch);
    abandoned_.insert(batches.begin(), batches.end());
    running_.clear();
    if (!peer_->ended()) peer_->send(cancel_message(batches));
  }

  Expected<ClusterMessage> parsed(const std::string& line) const {
    auto message = parse_message(line);
    if (!message) message.error().place = place_;
    return message;
  }

  Error wrong(std::string message) const {
    return {.message = std::move(message),
            .place = place_,
            .advice = "use the Python package of this version of the program, here and on all workers"};
  }

  Error early_end() {
    const std::string how = peer_->how_it_ended();
    const std::string& words = peer_->last_words();
    if (words.find("No module named") != std::string::npos && words.find("monet") != std::string::npos) {
      return {.message = fmt::format("{} has no Python package monet", python_),
              .place = place_,
              .advice =
                  "install it with pip install '.[cluster]' (docs/python.md), or name the Python that has it by "
                  "--python or MONET_PYTHON"};
    }
    return {.message = fmt::format("{} -m monet.cluster ended: {}{}{}", python_, how, words.empty() ? "" : "\n", words),
            .place = place_,
            .advice = "what is stored stays: --resume goes on"};
  }

  std::unique_ptr<ChildProcess> peer_;
  std::string python_, place_;
  BatchSizes sizes_;
  std::size_t workers_ = 0;
  std::uint64_t next_batch_ = 0;
  std::map<std::uint64_t, std::unordered_set<Design>> running_;  // designs that are not answered yet
  std::unordered_set<std::uint64_t> abandoned_;
};

}  // namespace

Expected<std::unique_ptr<Executor>> cluster_executor_for(const ClusterJob& job, const ClusterOptions& options) {
  auto peer = ChildProcess::start({python_of(options), "-m", "monet.cluster"});
  if (!peer) {
    peer.error().advice = "name a Python that has the package monet by --python or MONET_PYTHON";
    return std::move(peer).error();
  }
  auto executor = std::make_unique<ClusterExecutor>(*std::move(peer), options);
  MONET_RETURN_IF_ERROR(executor->greet(job, options));
  return std::unique_ptr<Executor>(std::move(executor));
}

Expected<std::unique_ptr<Executor>> cluster_executor(const DesignPricer& pricer, const ClusterOptions& options) {
  const Space& space = pricer.space();
  std::error_code ignored;
  const bool is_file = std::filesystem::is_regular_file(space.path, ignored);
  ClusterJob job{.fingerprint = pricer.fingerprint(),
                 .space_path = is_file ? std::filesystem::absolute(space.path).lexically_normal().string() : space.path,
                 .space_text = space.text};
  MONET_TRY(job.files, files_of(space));
  return cluster_executor_for(job, options);
}

}  // namespace monet::explore
