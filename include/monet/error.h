// What goes wrong, said so that the reader can put it right.
#pragma once

#include <string>

namespace monet {

// Decides the exit status of the program: 1, 2, 3.
enum class ErrorKind {
  user,        // the input is wrong
  infeasible,  // the input is right and no answer exists
  defect,      // ours
};

struct Error {
  ErrorKind kind = ErrorKind::user;
  std::string message;  // what is wrong
  std::string place;    // file, file:line:column, or the ONNX node's name; may be empty
  std::string advice;   // what to do; may be empty

  // "place: message (advice)"
  std::string text() const;
};

}  // namespace monet
