// The core files that a Stream system names, each read once.
#pragma once

#include "compat/import/import.h"
#include "compat/import/zigzag.h"

#include <filesystem>
#include <map>

namespace monet {

class CoreFiles {
 public:
  // `system` is the path of the system's file.
  CoreFiles(const std::string& system, const FileReader& read)
      : folder_(std::filesystem::path(system).parent_path()), read_(read) {}

  // Where the file of that name was found; `at` is the place that names it. Looked for beside the system's file, in the
  // folder `cores` there, as the name says from the current folder or any folder above the system's, and last under its
  // bare name.
  Expected<std::string> find(const std::string& name, const YamlNode& at);
  // What a file that was found holds.
  const ZigzagCore& operator[](const std::string& path) const { return files_.at(path); }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<std::string> places(const std::string& name) const;
  Status read(const std::string& path, const std::string& text);

  std::filesystem::path folder_;
  const FileReader& read_;
  std::map<std::string, std::string> found_;  // path by name
  std::map<std::string, ZigzagCore> files_;   // by path
  std::vector<std::string> notes_;
};

}  // namespace monet
