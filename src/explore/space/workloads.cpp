#include "explore/space/workloads.h"

#include "base/try.h"
#include "config/yaml_values.h"
#include "evaluate/open/opened_step.h"
#include "networks/builtin.h"
#include "training/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

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

class WorkloadReader {
 public:
  WorkloadReader(const Yaml& node, const std::string& folder) : node_(node), folder_(folder) {}

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
    if (node_.find("network") == nullptr) {
      return error_at(node_.place, "a workload without a network", "write network: resnet18, or an ONNX file");
    }
    MONET_TRY(std::vector<std::string> networks, read_texts("network"));
    for (std::string& network : networks) {
      const std::filesystem::path path = network;
      if (!is_builtin(network) && path.is_relative()) network = (std::filesystem::path(folder_) / path).string();
    }
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
  Workload common_;
};

}  // namespace

Expected<std::vector<Workload>> read_workloads(const Yaml& node, const std::string& folder) {
  if (!node.is_list() || node.items.empty()) {
    return error_at(node.place, "'workloads' is no list of workloads",
                    "write a line for each: - {network: resnet18, batch: 4}");
  }
  std::vector<Workload> all;
  for (const YamlPtr& item : node.items) {
    MONET_TRY(std::vector<Workload> some, WorkloadReader(*item, folder).read());
    for (Workload& workload : some) {
      if (all.size() == most_workloads) {
        return error_at(item->place, fmt::format("more than {} workloads", most_workloads), "give shorter lists");
      }
      if (std::ranges::find(all, workload.name, &Workload::name) != all.end()) {
        return error_at(item->place, fmt::format("two workloads have the name '{}'", workload.name),
                        "give one of them another: name: …");
      }
      all.push_back(std::move(workload));
    }
  }
  return all;
}

}  // namespace monet::explore
