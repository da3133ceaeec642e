// The options of commands, said once: name, member, meaning, what stands for the value, and what may be given. The
// command line, its help, completion and reference, and the Python package are made of them.
//
// describe_X(to) hands each option of X to `to`, which has
//   to.title(text)                          the options from here on stand under it in the help
//   to.option(name, member, meaning, type)  a value; `type` stands for it in the help
//   to.flag(name, member, meaning)          false unless it is given
//   to.off(name, member, meaning)           true; the command line has a flag for what is done without it
// and gives back what takes limits, one after the other: within(least, most), whole(), positive(), one_of(words),
// such_as(words), each_once() (of a list: one value an option), with_default() (the help says it).
#pragma once

namespace monet {

struct OptionName {
  const char* python;
  const char* command_line;  // without "--"; null: the same with - for _, and "no-" before it where it turns off

  OptionName(const char* name) : OptionName(name, nullptr) {}  // NOLINT(google-explicit-constructor)
  OptionName(const char* in_python, const char* on_command_line) : python(in_python), command_line(on_command_line) {}
};

}  // namespace monet
