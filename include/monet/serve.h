// A local web application over the library: networks, machines, evaluations, searches and their history in a browser.
#pragma once

#include <monet/expected.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace monet {

struct ServeOptions {
  std::string host = "127.0.0.1";  // that is listened on
  int port = 8765;                 // 0: any that is free
  std::vector<std::string> names;  // HOST or HOST:PORT by which others ask: of a proxy, of a container
  std::string folder;              // uploads, machines, stores and history; empty: the user's, made if need be
  std::int64_t most_upload_bytes = std::int64_t{256} << 20;
  std::int64_t jobs = 0;  // threads of all evaluations together; 0: as many as there are cores

  std::function<void(const std::string& url)> ready;  // called once, when it answers
  std::function<bool()> stop;                         // asked ten times a second: true ends it
};

// Answers until `stop`. Every address under /api/ asks for the token in the URL that `ready` was given.
Status serve(const ServeOptions& options);

}  // namespace monet
