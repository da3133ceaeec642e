#include "config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

namespace monet {

namespace {

// Leaves the parser, which knows no other way out.
struct Stop {
  Error error;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, const YamlFileKind& file_kind)
      : file_(std::make_shared<const std::string>(file)), file_kind_(file_kind) {}

  YamlPtr root() const { return root_; }
  Place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_ != nullptr)
      stop(place(mark), "a second document", fmt::format("a {} holds one: remove the line ---", file_kind_.name));
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(mark, anchor, YamlKind::nothing, {}); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    leaf(mark, anchor, YamlKind::scalar, value);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) stop(place(mark), "an alias inside of what it stands for", "write the value out");
    if (expects_key()) stop(place(mark), "an alias where a key should be", "write the key out");
    attach(found->second, place(mark));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlKind::list);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlKind::map);
  }
  void OnMapEnd() override {
    if (!open_.empty() && open_.back().merged != nullptr) merge(open_.back());
    close();
  }

 private:
  struct Frame {
    std::shared_ptr<Yaml> node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    Place key_place;
    std::unordered_set<std::string> keys;
    YamlPtr merged;  // value of <<
  };

  [[noreturn]] static void stop(const Place& where, std::string message, std::string advice) {
    throw Stop{{.message = std::move(message), .place = where.text(), .advice = std::move(advice)}};
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:")) return;
    stop(place(mark), fmt::format("a tag '{}'", shown(tag)), "tags mean nothing here: remove it");
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node->kind == YamlKind::map && !open_.back().has_key;
  }

  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor, YamlKind kind, const std::string& value) {
    if (expects_key()) {
      if (kind != YamlKind::scalar || value.empty()) stop(place(mark), "a key is missing", "write key: value");
      take_key(place(mark), value);
      return;
    }
    auto node = std::make_shared<Yaml>();
    node->kind = kind;
    node->place = place(mark);
    node->scalar = value;
    if (anchor != 0) anchors_[anchor] = node;
    attach(node, node->place);
  }

  void take_key(const Place& where, const std::string& key) {
    Frame& frame = open_.back();
    if (!frame.keys.insert(key).second) {
      stop(where, fmt::format("the key '{}' occurs twice in this block", shown(key)), "remove one of them");
    }
    frame.has_key = true;
    frame.key = key;
    frame.key_place = where;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlKind kind) {
    check_tag(mark, tag);
    if (expects_key()) stop(place(mark), "a list or block where a key should be", "keys are plain names");
    if (open_.size() >= max_yaml_depth) {
      stop(place(mark), fmt::format("blocks nested deeper than {}", max_yaml_depth),
           fmt::format("no {} needs that", file_kind_.name));
    }
    Frame frame;
    frame.node = std::make_shared<Yaml>();
    frame.node->kind = kind;
    frame.node->place = place(mark);
    frame.anchor = anchor;
    open_.push_back(std::move(frame));
  }

  void close() {
    const Frame frame = std::move(open_.back());
    open_.pop_back();
    if (frame.anchor != 0) anchors_[frame.anchor] = frame.node;
    attach(frame.node, frame.node->place);
  }

  void attach(const YamlPtr& node, const Place& where) {
    if (open_.empty()) {
      root_ = node;
      return;
    }
    Frame& frame = open_.back();
    grow(frame, *node, where);
    if (frame.node->kind == YamlKind::list) {
      frame.node->items.push_back(node);
    } else if (frame.key == "<<") {
      frame.merged = node;
      frame.has_key = false;
    } else {
      frame.node->entries.push_back({frame.key, frame.key_place, node});
      frame.has_key = false;
    }
  }

  void grow(Frame& frame, const Yaml& node, const Place& where) {
    frame.node->size += node.size;
    std::size_t total = 0;
    for (const Frame& outer : open_) total += outer.node->size;
    if (total > file_kind_.max_nodes) {
      stop(where, fmt::format("more than {} values, aliases written out", file_kind_.max_nodes),
           std::string(file_kind_.shorten));
    }
  }

  void merge(Frame& frame) {
    std::vector<YamlPtr> sources = {frame.merged};
    if (frame.merged->is_list()) sources = frame.merged->items;
    for (const YamlPtr& source : sources) {
      if (!source->is_map()) stop(source->place, "<< merges blocks of keys only", "give it an alias of a block");
      for (const Yaml::Entry& entry : source->entries) {
        if (frame.keys.insert(entry.key).second) frame.node->entries.push_back(entry);
      }
    }
  }

  std::shared_ptr<const std::string> file_;
  YamlFileKind file_kind_;
  std::vector<Frame> open_;
  std::unordered_map<YAML::anchor_t, YamlPtr> anchors_;
  YamlPtr root_;
};

// The width of a port as no YAML parser reads it: [64, 512] bit/cycle.
bool has_unit_after_list(const std::string& text, const YAML::Mark& mark) {
  const auto at = static_cast<std::size_t>(std::max(mark.pos, 0));
  if (at >= text.size()) return false;
  const std::size_t before = text.find_last_not_of(" \t", at == 0 ? 0 : at - 1);
  return before != std::string::npos && text[before] == ']';
}

}  // namespace

std::string Place::text() const {
  const std::string name = file ? *file : std::string();
  return line == 0 ? name : fmt::format("{}:{}:{}", name, line, column);
}

const Yaml::Entry* Yaml::entry(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

const Yaml* Yaml::find(std::string_view key) const {
  const Entry* found = entry(key);
  return found == nullptr ? nullptr : found->value.get();
}

Expected<YamlPtr> parse_yaml(const std::string& text, const std::string& file, const YamlFileKind& file_kind) {
  const std::string unlike = fmt::format("this does not look like a {}", file_kind.name);
  if (text.size() > file_kind.max_bytes) {
    return Error{.message = fmt::format("the file is larger than {} MiB", file_kind.max_bytes >> 20),
                 .place = file,
                 .advice = unlike};
  }
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
    return Error{.message = "the file is not text", .place = file, .advice = unlike};
  }
  TreeBuilder builder(file, file_kind);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    return stop.error;
  } catch (const YAML::Exception& problem) {
    return Error{.message = fmt::format("not YAML: {}", problem.msg),
                 .place = builder.place(problem.mark).text(),
                 .advice = has_unit_after_list(text, problem.mark) ? "a range with a unit is written 64..512 bit/cycle"
                                                                   : "check indentation, brackets and quotes"};
  } catch (const std::exception& problem) {
    return Error{.message = fmt::format("not YAML: {}", problem.what()),
                 .place = file,
                 .advice = "check indentation, brackets and quotes"};
  }
  if (builder.root() == nullptr) {
    return Error{.message = "the file is empty",
                 .place = file,
                 .advice = fmt::format("see {} for an example", file_kind.example)};
  }
  return builder.root();
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result;
  for (const char c : text.substr(0, longest)) result += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
  if (text.size() > longest) result += "…";
  return result;
}

std::string_view name_of(YamlKind kind) {
  switch (kind) {
    case YamlKind::nothing: return "nothing";
    case YamlKind::scalar: return "one value";
    case YamlKind::list: return "a list";
    case YamlKind::map: break;
  }
  return "a block of keys";
}

}  // namespace monet
