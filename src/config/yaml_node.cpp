#include "config/yaml_node.h"

#include "base/read_file.h"
#include "base/try.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace monet {

namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;
constexpr std::size_t most_nodes = 200'000;
constexpr std::size_t most_depth = 64;

struct TooMuch {
  YAML::Mark mark;
  std::string message;
};

std::size_t count_nodes(const YamlNode& node) {
  std::size_t count = 1 + node.keys.size();
  for (const YamlNode& item : node.items) count += count_nodes(item);
  return count;
}

std::size_t depth_of(const YamlNode& node) {
  std::size_t deepest = 0;
  for (const YamlNode& item : node.items) deepest = std::max(deepest, depth_of(item));
  return deepest + 1;
}

// Builds the tree from the parser's events. Open nodes are on a stack; in a map, keys and values take turns.
class ForeignTreeBuilder : public YAML::EventHandler {
 public:
  ForeignTreeBuilder(YamlDocument& document, std::shared_ptr<const std::string> file)
      : document_(document), file_(std::move(file)) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, make(mark, YamlNode::Kind::null), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool plain = tag == "?" || tag.empty();
    const bool nothing = plain && (value.empty() || value == "~" || value == "null" || value == "Null");
    YamlNode node = make(mark, nothing ? YamlNode::Kind::null : YamlNode::Kind::scalar);
    node.text = value;
    add(mark, std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw TooMuch{mark, "a node cannot contain itself"};
    count_ += found->second.second;
    if (open_.size() + depth_of(found->second.first) > most_depth) throw TooMuch{mark, too_deep()};
    check_count(mark);
    YamlNode copy = found->second.first;
    add(mark, std::move(copy), 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::sequence, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::map, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::map<std::string, std::size_t, std::less<>> index;  // of a map's keys
    bool key_next = true;
    std::size_t value_at = 0;
  };

  static std::string too_deep() { return fmt::format("the file nests deeper than {} levels", most_depth); }

  YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) const {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    node.file = file_;
    return node;
  }

  void check_count(const YAML::Mark& mark) const {
    if (count_ > most_nodes) throw TooMuch{mark, fmt::format("the file has more than {} values", most_nodes)};
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
    if (open_.size() >= most_depth) throw TooMuch{mark, too_deep()};
    open_.push_back({.node = make(mark, kind), .mark = mark, .anchor = anchor});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(done.mark, std::move(done.node), done.anchor);
  }

  void add(const YAML::Mark& mark, YamlNode node, YAML::anchor_t anchor) {
    ++count_;
    check_count(mark);
    if (anchor != 0) {
      const std::size_t nodes = count_nodes(node);
      count_ += nodes;
      check_count(mark);
      anchored_[anchor] = {node, nodes};
    }
    if (open_.empty()) {
      document_.root = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_sequence()) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.key_next) {
      add_key(parent, mark, std::move(node));
    } else {
      parent.node.items[parent.value_at] = std::move(node);
      parent.key_next = true;
    }
  }

  void add_key(Open& parent, const YAML::Mark& mark, YamlNode key) {
    if (key.is_sequence() || key.is_map()) throw TooMuch{mark, "a key must be a word or a number"};
    if (key.text == "<<") throw TooMuch{mark, "merge keys ('<<') are not supported"};
    const auto [at, fresh] = parent.index.emplace(key.text, parent.node.items.size());
    if (fresh) {
      parent.node.keys.push_back(std::move(key));
      parent.node.items.emplace_back();
    } else {
      document_.repeated.push_back(fmt::format("{}: '{}' is given twice: the last one counts", key.place(), key.text));
    }
    parent.value_at = at->second;
    parent.key_next = false;
  }

  YamlDocument& document_;
  std::shared_ptr<const std::string> file_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::pair<YamlNode, std::size_t>> anchored_;
  std::size_t count_ = 0;
};

Error error_at(const std::string& path, const YAML::Mark& mark, std::string message, std::string advice) {
  std::string place = path;
  if (!mark.is_null()) place += fmt::format(":{}:{}", mark.line + 1, mark.column + 1);
  return {.message = std::move(message), .place = std::move(place), .advice = std::move(advice)};
}

Error too_large(const std::string& path) {
  return {.message = fmt::format("the file is larger than {} MiB", most_bytes >> 20),
          .place = path,
          .advice = "a description of hardware takes some kilobytes"};
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i].text == key) return &items[i];
  return nullptr;
}

std::string YamlNode::place() const { return fmt::format("{}:{}:{}", file ? *file : "", line, column); }

Error YamlNode::error(std::string message, std::string advice) const {
  return {.message = std::move(message), .place = place(), .advice = std::move(advice)};
}

Expected<std::string> read_foreign_text(const std::string& path) {
  MONET_TRY(std::string text, read_file(path));
  if (text.size() > most_bytes) return too_large(path);
  return text;
}

Expected<YamlDocument> parse_foreign_yaml(std::string_view text, const std::string& path) {
  if (text.size() > most_bytes) return too_large(path);
  YamlDocument document;
  document.root.file = std::make_shared<const std::string>(path);
  document.root.line = document.root.column = 1;
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    ForeignTreeBuilder builder(document, document.root.file);
    parser.HandleNextDocument(builder);
    YamlDocument rest;
    ForeignTreeBuilder second(rest, document.root.file);
    if (parser.HandleNextDocument(second)) {
      return Error{.message = "the file has more than one YAML document",
                   .place = path,
                   .advice = "remove what follows the second '---'"};
    }
  } catch (const TooMuch& problem) {
    return error_at(path, problem.mark, problem.message, "write the value out, or split the file");
  } catch (const YAML::Exception& problem) {
    return error_at(path, problem.mark, "this is not YAML: " + problem.msg, "check indentation, brackets and quotes");
  }
  return document;
}

}  // namespace monet
