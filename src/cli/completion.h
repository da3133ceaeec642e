// Scripts that complete commands, options, their words and names that come with the program, or files.
#pragma once

#include "cli/reference.h"

#include <functional>
#include <string>
#include <string_view>

namespace monet::cli {

// `shell`: bash, zsh, fish.
std::string completion_text(const CommandReference& program, const std::string& shell);

std::string bash_completion(const CommandReference& program);
std::string zsh_completion(const CommandReference& program);
std::string fish_completion(const CommandReference& program);

// "hardware show" of "monet hardware show"; empty for the program.
std::string below_program(const CommandReference& command);
// 'it'\''s', as all three read it.
std::string quoted_for_shell(std::string_view text);
// All of the program with those inside others: "hardware" and "hardware show".
std::vector<const CommandReference*> with_inner(const CommandReference& program);
// Of a `case` in bash and zsh, for "COMMAND:--option": what `offer` says of each option that takes a value.
std::string value_cases(const CommandReference& command,
                        const std::function<std::string(const OptionReference&)>& offer);
// With a blank between them.
std::string joined_words(const std::vector<std::string>& words);
// Files may be named, perhaps beside names that come with the program.
bool takes_files(const Offered& offered);

}  // namespace monet::cli
