#include "trace/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace zevent::trace {

result<owned_bytes> map_descriptor(int descriptor, const std::string& name) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return fail("cannot read {}: {}", name, strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail("cannot read {}: it is not a regular file", name);
  if (status.st_size == 0) return owned_bytes{};
  const auto size = static_cast<size_t>(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return fail("cannot map {}: {}", name, strerror(errno));
  return owned_bytes{
      {static_cast<const std::byte*>(address), size},
      std::shared_ptr<const void>(address, [size](void* mapped) { munmap(mapped, size); })};
}

result<owned_bytes> map_file(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a named pipe by mistake must not wait for a writer.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail("cannot open {}: {}", path.string(), strerror(errno));
  auto mapped = map_descriptor(descriptor, path.string());
  close(descriptor);
  return mapped;
}

owned_bytes own_bytes(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {*owner, owner};
}

}  // namespace zevent::trace
