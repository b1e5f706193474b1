#include "launch/elf_symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace zevent::launch {
namespace {

// A file mapped for reading; unmapped at the end of its life.
class mapped_file {
 public:
  explicit mapped_file(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<size_t>(status.st_size);
      void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (address != MAP_FAILED) bytes_ = {static_cast<const char*>(address), size};
    }
    close(descriptor);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }

  std::span<const char> bytes() const { return bytes_; }

 private:
  std::span<const char> bytes_;
};

template <typename T>
std::optional<T> read_at(std::span<const char> file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

std::optional<std::span<const char>> section_bytes(std::span<const char> file,
                                                   const Elf64_Shdr& section) {
  if (section.sh_offset > file.size() || file.size() - section.sh_offset < section.sh_size)
    return std::nullopt;
  return file.subspan(section.sh_offset, section.sh_size);
}

// The NUL-terminated string at `offset`; empty when it leaves the table.
std::string_view string_at(std::span<const char> strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char* begin = strings.data() + offset;
  return {begin, strnlen(begin, strings.size() - offset)};
}

void collect_symbols(std::span<const char> table, std::span<const char> strings, elf_symbols& out) {
  for (uint64_t offset = 0; table.size() - offset >= sizeof(Elf64_Sym);
       offset += sizeof(Elf64_Sym)) {
    const auto symbol = *read_at<Elf64_Sym>(table, offset);
    const auto name = string_at(strings, symbol.st_name);
    if (!name.starts_with("ze")) continue;
    auto& names = symbol.st_shndx == SHN_UNDEF ? out.wanted : out.offered;
    names.emplace_back(name);
  }
}

void collect_needed(std::span<const char> table, std::span<const char> strings, elf_symbols& out) {
  for (uint64_t offset = 0; table.size() - offset >= sizeof(Elf64_Dyn);
       offset += sizeof(Elf64_Dyn)) {
    const auto entry = *read_at<Elf64_Dyn>(table, offset);
    if (entry.d_tag == DT_NEEDED)
      out.needed_libraries.emplace_back(string_at(strings, entry.d_un.d_val));
    if (entry.d_tag == DT_RPATH) out.rpath = string_at(strings, entry.d_un.d_val);
  }
}

std::string interpreter_of(std::span<const char> file, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return {};
    if (segment->p_type != PT_INTERP) continue;
    if (segment->p_offset > file.size() || file.size() - segment->p_offset < segment->p_filesz)
      return {};
    return std::string(string_at(file.subspan(segment->p_offset, segment->p_filesz), 0));
  }
  return {};
}

}  // namespace

result<elf_symbols> read_elf_symbols(const std::string& path) {
  const mapped_file mapping(path);
  const auto file = mapping.bytes();
  if (file.empty()) return fail("cannot read {}: {}", path, std::strerror(errno));

  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail("{} is not a 64-bit program or library", path);

  elf_symbols symbols;
  symbols.interpreter = interpreter_of(file, *header);
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return fail("{} is damaged: its section table leaves the file", path);
    if (section->sh_type != SHT_DYNSYM && section->sh_type != SHT_DYNAMIC) continue;
    const auto string_section =
        read_at<Elf64_Shdr>(file, header->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    const auto table = section_bytes(file, *section);
    const auto strings = string_section ? section_bytes(file, *string_section) : std::nullopt;
    if (!table || !strings) return fail("{} is damaged: a section leaves the file", path);
    if (section->sh_type == SHT_DYNSYM)
      collect_symbols(*table, *strings, symbols);
    else
      collect_needed(*table, *strings, symbols);
  }
  return symbols;
}

}  // namespace zevent::launch
