// Names of parts and what they stand for: a part (pe0_1), all parts of a block (pe), a part inside others (chip0/pe3,
// chip/pe, pe0/sram).
#pragma once

#include "hardware/prototypes.h"

#include <deque>
#include <map>

namespace monet {

// The machine, a cluster or a core: what has names inside.
using ScopeId = Id<struct ScopeTag>;

struct NamedParts {
  std::vector<End> ends;
  std::vector<const Repeat*> repeats;  // of the blocks whose parts the name stands for
};

class PartNames {
 public:
  PartNames() { scopes_.emplace_back(); }

  ScopeId machine() const { return ScopeId(0); }
  ScopeId add_scope(ScopeId parent, const std::string& name);
  std::size_t scope_count() const { return scopes_.size(); }
  const std::string& prefix(ScopeId scope) const { return scopes_[scope.index()].prefix; }  // "chip0/"

  // A part with its name, and as one of its block. `inside`: its scope, where it is a cluster or core. `end` is of
  // nothing for a cluster. Fails (message only) for a name that is taken.
  Status add(ScopeId scope, const std::string& name, const std::string& block, const Repeat* repeat, const End& end,
             ScopeId inside);
  void add_link(ScopeId scope, const std::string& name, LinkId link);

  // Seen from inside a scope: in that scope, or in the nearest around it that has the name.
  NamedParts find(ScopeId scope, std::string_view name) const;
  const std::vector<LinkId>* find_links(ScopeId scope, std::string_view name) const;
  std::vector<std::string> known(ScopeId scope) const;  // for suggestions
  std::vector<std::string> known_links(ScopeId scope) const;

 private:
  struct Child {
    End end;
    ScopeId inside;
  };
  struct Named {
    std::vector<Child> children;
    const Repeat* repeat = nullptr;  // where the name stands for all parts of a block
  };
  struct Scope {
    std::string prefix;
    ScopeId parent;
    std::map<std::string, Named, std::less<>> names;
    std::map<std::string, std::vector<LinkId>, std::less<>> links;
  };

  NamedParts find_in(ScopeId scope, std::string_view name) const;

  std::deque<Scope> scopes_;
};

}  // namespace monet
