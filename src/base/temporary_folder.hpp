#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace zevent {

// Where what is not kept may be put: TMPDIR, or /tmp where that names no folder.
inline std::filesystem::path temporary_place() {
  std::error_code error;
  std::filesystem::path named = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : named;
}

// A folder for what is not kept; it goes away with everything in it. The path is empty where none
// could be made.
class temporary_folder {
 public:
  explicit temporary_folder(const std::string& name = "zevent") {
    std::string pattern = (temporary_place() / (name + "-XXXXXX")).string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace zevent
