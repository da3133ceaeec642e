// Files that commands write.
#pragma once

#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/progress.h"

#include <functional>
#include <iosfwd>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace monet::cli {

// Exit status; nothing is done for an empty path. A file is replaced when the new one is complete.
int write_file(const std::string& path, const std::function<void(std::ostream&)>& write);
int write_text(const std::string& path, const std::string& text);
// Fails where a file is that is no page: it may be what the page is made of.
Status may_become_page(const std::string& path);
// With all folders above it.
int make_folder(const std::string& path);

// Files say nothing of how long it took: the same again gives the same files. While one of these lives, a result's own
// time is negative, and not written.
class WithoutTime {
 public:
  explicit WithoutTime(double& wall_s) : wall_s_(wall_s), kept_(std::exchange(wall_s, -1)) {}
  WithoutTime(const WithoutTime&) = delete;
  WithoutTime& operator=(const WithoutTime&) = delete;
  ~WithoutTime() { wall_s_ = kept_; }

 private:
  double& wall_s_;
  double kept_;
};

// The files of a folder: none of them takes its name before all are complete. A folder that is not there yet is made
// when they are, and is there with all of them or not at all.
class FolderFiles {
 public:
  explicit FolderFiles(std::string folder);

  void file(const std::string& name, const std::function<void(std::ostream&)>& write);
  void text(const std::string& name, const std::string& text);
  // A page to look at; left out, with a warning, where this build has none.
  void page(const std::string& name, const std::function<Expected<std::string>()>& page);
  // Exit status: that of the first that could not be written.
  int publish();

 private:
  int publish_folder();

  std::string folder_;
  bool is_new_ = false;
  // Numbered plans of a run before that this one does not have: the folder is of one run.
  void remove_older_plans() const;

  std::vector<WholeFile> files_;
  std::set<std::string> names_;
  int status_ = 0;
};

}  // namespace monet::cli
