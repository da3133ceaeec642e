#include "explore/space/workloads.h"

#include "base/try.h"
#include "config/yaml_values.h"
#include "evaluate/open/opened_step.h"
#include "networks/builtin.h"
#include "training/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

namespace monet::explore {

namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 31;
constexpr std::size_t longest_path = 4096;

const std::vector<std::string>& workload_keys() {
  static const std::vector<std::string> all = {"network",       "name",     "batch", "dimensions", "precision",
                                               "step",          "lowering", "loss",  "optimizer",  "optimizer_form",
                                               "conv_gradient", "freeze",   "train", "lora",       "weight",
                                               "parameter",     "buffer"};
  return all;
}

// A name may be part of an objective, a column of a table, and a file.
Status check_name(const std::string& name, const Place& place) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '+';
  };
  if (!name.empty() && std::ranges::all_of(name, allowed)) return Done{};
  return error_at(place, fmt::format("'{}' cannot be the name of a workload", shown(name)),
                  "use letters, digits and . _ - +");
}

// "gpt2" of "gpt2:layers=2" and of "nets/gpt2.onnx", as a name may be.
std::string short_name(const std::string& network) {
  std::string name =
      is_builtin(network) ? network.substr(0, network.find(':')) : std::filesystem::path(network).stem().string();
  for (char& c : name) {
    if (!check_name(std::string(1, c), {})) c = '_';
  }
  return name;
}

// Files of networks lie beside the space.
std::string network_at(const std::string& network, const std::string& folder) {
  const std::filesystem::path path = network;
  return is_builtin(network) || path.is_absolute() ? network : (std::filesystem::path(folder) / path).string();
}

std::string text_of(const Yaml& node) {
  std::string text = node.scalar;
  for (const YamlPtr& item : node.items) text += fmt::format("[{}]", text_of(*item));
  for (const Yaml::Entry& entry : node.entries) text += fmt::format("{{{}: {}}}", entry.key, text_of(*entry.value));
  return text;
}

class WorkloadReader {
 public:
  WorkloadReader(const Yaml& node, const std::string& folder, const Subject& subject)
      : node_(node), folder_(folder), subject_(subject) {}

  // What makes two workloads of equal options: all that is not in them, its name and its weight apart.
  std::string common_text() const {
    constexpr std::array elsewhere = {"name", "weight", "network", "batch", "precision", "step", "lowering"};
    std::string text;
    for (const Yaml::Entry& entry : node_.entries) {
      if (std::ranges::find(elsewhere, entry.key) == elsewhere.end())
        text += fmt::format("{}: {}\n", entry.key, text_of(*entry.value));
    }
    return text;
  }

  Expected<std::vector<Workload>> read() {
    MONET_RETURN_IF_ERROR(check_keys_of(node_, "a workload", workload_keys()));
    MONET_RETURN_IF_ERROR(read_common());
    std::vector<Workload> result;
    MONET_TRY(const auto networks, read_networks());
    MONET_TRY(const auto batches, read_batches());
    MONET_TRY(const auto precisions, read_precisions());
    MONET_TRY(const auto steps, read_steps());
    MONET_TRY(const auto lowerings, read_words("lowering", {"eager", "compiled", "nests"}));
    if (networks.size() * batches.size() * precisions.size() * steps.size() * lowerings.size() > most_workloads) {
      return error_at(node_.place, fmt::format("more than {} workloads", most_workloads), "give shorter lists");
    }
    for (const std::string& network : networks) {
      for (const auto& batch : batches) {
        for (const std::string& precision : precisions) {
          for (const std::string& step : steps) {
            for (const std::string& lowering : lowerings) {
              Workload workload = common_;
              workload.network = network;
              workload.options.train.batch = batch;
              workload.options.train.precision = precision;
              workload.options.inference = step == "inference";
              workload.options.lowering = lowering;
              std::vector<std::string> parts = {common_.name.empty() ? short_name(network) : common_.name};
              if (networks.size() > 1 && !common_.name.empty()) parts.push_back(short_name(network));
              if (batches.size() > 1) parts.push_back(fmt::format("b{}", *batch));
              if (precisions.size() > 1) parts.push_back(std::filesystem::path(precision).stem().string());
              if (steps.size() > 1) parts.push_back(step);
              if (lowerings.size() > 1) parts.push_back(lowering);
              workload.name = fmt::format("{}", fmt::join(parts, "-"));
              MONET_RETURN_IF_ERROR(check_name(workload.name, place_of("name")));
              MONET_RETURN_IF_ERROR(check_options(workload));
              result.push_back(std::move(workload));
            }
          }
        }
      }
    }
    return result;
  }

 private:
  Place place_of(std::string_view key) const {
    const Yaml* found = node_.find(key);
    return found == nullptr ? node_.place : found->place;
  }
  static std::string what(std::string_view key) { return fmt::format("'{}' of a workload", key); }

  Status read_common() {
    TrainOptions& train = common_.options.train;
    for (const Yaml::Entry& entry : node_.entries) {
      const Yaml& value = *entry.value;
      if (entry.key == "name") {
        MONET_TRY(common_.name, read_word(value, what("name")));
      } else if (entry.key == "dimensions") {
        if (!value.is_map()) return wrong_form(value, what("dimensions"), "names and sizes: {tokens: 128}");
        for (const Yaml::Entry& size : value.entries) {
          MONET_TRY(const std::int64_t number,
                    read_whole(*size.value, fmt::format("the dimension '{}'", shown(size.key)), 1, largest_size));
          train.dimensions.emplace_back(size.key, number);
        }
      } else if (entry.key == "loss") {
        MONET_TRY(train.loss, read_word(value, what("loss")));
      } else if (entry.key == "optimizer") {
        MONET_TRY(train.optimizer, read_word(value, what("optimizer")));
      } else if (entry.key == "optimizer_form") {
        MONET_TRY(train.optimizer_form, read_word(value, what("optimizer_form")));
      } else if (entry.key == "conv_gradient") {
        MONET_TRY(train.conv_gradient, read_word(value, what("conv_gradient")));
      } else if (entry.key == "parameter") {
        MONET_TRY(train.parameter, read_texts("parameter"));
      } else if (entry.key == "buffer") {
        MONET_TRY(train.buffer, read_texts("buffer"));
      } else if (entry.key == "freeze") {
        MONET_TRY(train.freeze, read_texts("freeze"));
      } else if (entry.key == "train") {
        MONET_TRY(train.train, read_texts("train"));
      } else if (entry.key == "lora") {
        MONET_TRY(train.lora_rank, read_whole(value, what("lora"), 1, largest_size));
      } else if (entry.key == "weight") {
        MONET_TRY(common_.weight, read_real(value, what("weight"), 0));
        if (common_.weight == 0) {
          return error_at(value.place, "a workload of weight 0 counts for nothing", "give a weight above 0");
        }
      }
    }
    return Done{};
  }

  // Of a list or one text; absent: one that is empty.
  Expected<std::vector<std::string>> read_texts(std::string_view key) const {
    const Yaml* node = node_.find(key);
    if (node == nullptr) return std::vector<std::string>{""};
    std::vector<std::string> texts;
    for (const Yaml* item : one_or_more(*node)) {
      MONET_TRY(const std::string text, read_word(*item, what(key), longest_path));
      if (std::ranges::find(texts, text) != texts.end()) {
        return error_at(item->place, fmt::format("{} has '{}' twice", what(key), shown(text)), "remove one of them");
      }
      texts.push_back(text);
    }
    if (texts.empty())
      return error_at(node->place, fmt::format("{} is an empty list", what(key)), "write at least one");
    return texts;
  }

  Expected<std::vector<std::string>> read_networks() const {
    if (!subject_.network.empty()) return std::vector<std::string>{subject_.network};
    if (node_.find("network") == nullptr) {
      return error_at(node_.place, "a workload without a network", "write network: resnet18, or an ONNX file");
    }
    MONET_TRY(std::vector<std::string> networks, read_texts("network"));
    for (std::string& network : networks) network = network_at(network, folder_);
    return networks;
  }

  // Files of recipes lie beside the space.
  Expected<std::vector<std::string>> read_precisions() const {
    MONET_TRY(std::vector<std::string> precisions, read_texts("precision"));
    for (std::string& precision : precisions) {
      const std::filesystem::path path = precision;
      if (!training::is_recipe_file(precision) || path.is_absolute()) continue;
      precision = (std::filesystem::path(folder_) / path).string();
    }
    return precisions;
  }

  Expected<std::vector<std::optional<std::int64_t>>> read_batches() const {
    if (subject_.batch) return std::vector<std::optional<std::int64_t>>{subject_.batch};
    std::vector<std::optional<std::int64_t>> batches;
    const Yaml* node = node_.find("batch");
    if (node == nullptr) return std::vector<std::optional<std::int64_t>>{std::nullopt};
    for (const Yaml* item : one_or_more(*node)) {
      MONET_TRY(const std::int64_t batch, read_whole(*item, what("batch"), 1, largest_size));
      if (std::ranges::find(batches, batch) != batches.end()) {
        return error_at(item->place, fmt::format("'batch' of a workload has {} twice", batch), "remove one of them");
      }
      batches.emplace_back(batch);
    }
    if (batches.empty()) return error_at(node->place, "'batch' of a workload is an empty list", "write at least one");
    return batches;
  }

  Expected<std::vector<std::string>> read_steps() const {
    MONET_TRY(std::vector<std::string> steps, read_words("step", {"training", "inference"}));
    if (steps.front().empty()) steps.front() = "training";
    return steps;
  }

  // As read_texts, of these words.
  Expected<std::vector<std::string>> read_words(std::string_view key, const std::vector<std::string>& known) const {
    MONET_TRY(std::vector<std::string> words, read_texts(key));
    if (const Yaml* node = node_.find(key)) {
      for (const Yaml* item : one_or_more(*node)) MONET_RETURN_IF_ERROR(read_one_of(*item, what(key), known));
    }
    return words;
  }

  // What the options of a training step can be, `monet train` knows; it speaks of them as the command line does.
  Status check_options(const Workload& workload) const {
    TrainOptions train = workload.options.train;
    // A recipe's file is read with the network.
    if (training::is_recipe_file(train.precision)) train.precision.clear();
    auto checked = training::step_options(train);
    if (checked) return Done{};
    Error error = std::move(checked).error();
    // One without a place is about the optimizer.
    std::string key = error.place.starts_with("--") ? error.place.substr(2) : "optimizer";
    std::ranges::replace(key, '-', '_');
    error.place = place_of(key).text();
    return error;
  }

  const Yaml& node_;
  const std::string& folder_;
  const Subject& subject_;
  Workload common_;
};

// All workloads of a space, each under a name of its own.
class WorkloadList {
 public:
  explicit WorkloadList(const Subject& subject) : replaced_(!subject.network.empty() || subject.batch) {}

  Status add(Workload workload, const std::string& common, const Place& place) {
    if (all_.size() == most_workloads)
      return error_at(place, fmt::format("more than {} workloads", most_workloads), "give shorter lists");
    if (replaced_) {
      const TrainOptions& train = workload.options.train;
      const auto [known, is_new] =
          seen_.emplace(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", workload.network.name(), train.batch.value_or(0),
                                    train.precision, workload.options.inference, workload.options.lowering, common),
                        all_.size());
      if (!is_new) {
        all_[known->second].weight += workload.weight;
        return Done{};
      }
      if (has(workload.name) && train.batch) workload.name += fmt::format("-b{}", *train.batch);
    }
    if (has(workload.name)) {
      return error_at(place, fmt::format("two workloads have the name '{}'", workload.name),
                      "give one of them another: name: …");
    }
    all_.push_back(std::move(workload));
    return Done{};
  }

  std::vector<Workload> take() { return std::move(all_); }

 private:
  bool has(const std::string& name) const { return std::ranges::find(all_, name, &Workload::name) != all_.end(); }

  bool replaced_;
  std::vector<Workload> all_;
  std::map<std::string, std::size_t> seen_;
};

}  // namespace

Expected<std::vector<Workload>> read_workloads(const Yaml& node, const std::string& folder, const Subject& subject) {
  if (!node.is_list() || node.items.empty()) {
    return error_at(node.place, "'workloads' is no list of workloads",
                    "write a line for each: - {network: resnet18, batch: 4}");
  }
  WorkloadList all(subject);
  for (const YamlPtr& item : node.items) {
    WorkloadReader reader(*item, folder, subject);
    MONET_TRY(std::vector<Workload> some, reader.read());
    const std::string common = reader.common_text();
    for (Workload& workload : some) MONET_RETURN_IF_ERROR(all.add(std::move(workload), common, item->place));
  }
  return all.take();
}

Expected<Subject> read_subject(const Yaml& root, const std::string& folder) {
  Subject subject;
  if (const Yaml* network = root.find("network")) {
    MONET_TRY(const std::string name, read_word(*network, "'network'", longest_path));
    subject.network = network_at(name, folder);
  }
  if (const Yaml* batch = root.find("batch")) {
    MONET_TRY(subject.batch, read_whole(*batch, "'batch'", 1, largest_size));
  }
  return subject;
}

}  // namespace monet::explore
