#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "trace/blob_store.hpp"

namespace zevent::repro {

// Contents that go beside the program, each once.
class data_files {
 public:
  // The name of the file that has the content: "data/host_mem_0.bin". A number is added where
  // another content has the name already.
  std::string add(std::string_view folder, std::string_view stem, std::string_view suffix,
                  std::span<const std::byte> content);

  struct file {
    std::string name;
    std::vector<std::byte> content;
  };
  const std::vector<file>& all() const { return files_; }

 private:
  std::vector<file> files_;
  std::map<trace::blob_hash, std::string, trace::blob_hash_order> known_;
  std::map<std::string, uint32_t> count_;
};

}  // namespace zevent::repro
