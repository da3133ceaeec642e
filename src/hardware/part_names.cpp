#include "hardware/part_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::size_t max_suggestions = 1000;

Error taken(const std::string& name) {
  return {.message = fmt::format("two parts are named '{}'", shown(name)), .advice = "give one of them another name"};
}

}  // namespace

ScopeId PartNames::add_scope(ScopeId parent, const std::string& name) {
  Scope scope;
  scope.prefix = prefix(parent) + name + "/";
  scope.parent = parent;
  scopes_.push_back(std::move(scope));
  return ScopeId(scopes_.size() - 1);
}

Status PartNames::add(ScopeId scope, const std::string& name, const std::string& block, const Repeat* repeat,
                      const End& end, ScopeId inside) {
  auto& names = scopes_[scope.index()].names;
  Named& own = names[name];
  if (!own.children.empty()) return taken(name);
  own.children.push_back({end, inside});
  if (name == block) return Done{};
  Named& all = names[block];
  if (!all.children.empty() && all.repeat != repeat) return taken(block);
  all.children.push_back({end, inside});
  all.repeat = repeat;
  return Done{};
}

void PartNames::add_link(ScopeId scope, const std::string& name, LinkId link) {
  scopes_[scope.index()].links[name].push_back(link);
}

NamedParts PartNames::find(ScopeId scope, std::string_view name) const {
  for (; scope.valid(); scope = scopes_[scope.index()].parent) {
    NamedParts found = find_in(scope, name);
    if (!found.ends.empty()) return found;
  }
  return {};
}

NamedParts PartNames::find_in(ScopeId scope, std::string_view name) const {
  NamedParts found;
  std::vector<ScopeId> at = {scope};
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view segment = name.substr(0, slash);
    const bool last = slash == std::string_view::npos;
    std::vector<ScopeId> next;
    for (const ScopeId inside : at) {
      const auto& names = scopes_[inside.index()].names;
      const auto entry = names.find(segment);
      if (entry == names.end()) continue;
      const Repeat* repeat = entry->second.repeat;
      if (repeat != nullptr && std::find(found.repeats.begin(), found.repeats.end(), repeat) == found.repeats.end()) {
        found.repeats.push_back(repeat);
      }
      for (const Child& child : entry->second.children) {
        if (!last && child.inside.valid()) next.push_back(child.inside);
        if (last && (child.end.core.valid() || child.end.memory.valid())) found.ends.push_back(child.end);
      }
    }
    if (last || next.empty()) return found;
    at = std::move(next);
    name.remove_prefix(slash + 1);
  }
}

const std::vector<LinkId>* PartNames::find_links(ScopeId scope, std::string_view name) const {
  for (; scope.valid(); scope = scopes_[scope.index()].parent) {
    const auto& links = scopes_[scope.index()].links;
    if (const auto entry = links.find(name); entry != links.end()) return &entry->second;
  }
  return nullptr;
}

std::vector<std::string> PartNames::known(ScopeId scope) const {
  std::vector<std::string> names;
  for (; scope.valid(); scope = scopes_[scope.index()].parent) {
    for (const auto& entry : scopes_[scope.index()].names) {
      if (names.size() < max_suggestions) names.push_back(entry.first);
    }
  }
  return names;
}

std::vector<std::string> PartNames::known_links(ScopeId scope) const {
  std::vector<std::string> names = {"none"};
  for (; scope.valid(); scope = scopes_[scope.index()].parent) {
    for (const auto& entry : scopes_[scope.index()].links) {
      if (names.size() < max_suggestions) names.push_back(entry.first);
    }
  }
  return names;
}

}  // namespace monet
