// Pages that commands leave in their folders.
#pragma once

#include <monet/expected.h>

#include <functional>
#include <string>

namespace monet::cli {

// Fails where a file is that is no page: it may be what the page is made of.
Status may_become_page(const std::string& path);

// Exit status. Where this build has no page, says so and goes on: the rest of a folder is worth having.
int write_page(const std::string& path, const std::function<Expected<std::string>()>& page);

// A result and its page into a folder: result.json, report.html.
int write_result(const std::string& folder, const std::string& json,
                 const std::function<Expected<std::string>()>& page);

}  // namespace monet::cli
