#include "replay/address_book.hpp"

#include <algorithm>
#include <cstring>

namespace zevent::replay {

bool is_opaque(const api::record& r) {
  return r.fields.size() == 1 && r.fields[0].name == "data" &&
         r.fields[0].array_length == opaque_bytes && r.size_bytes == opaque_bytes;
}

address_book::address_book(const trace::trace_file& trace, uint32_t process,
                           uint64_t host_granule_bytes, uint32_t first_pointer)
    : trace_(trace),
      line_(trace.run(), process),
      first_pointer_(first_pointer),
      host_(host_granule_bytes) {
  const auto handles = trace.model().handles;
  alike_.resize(handles.size());
  for (uint16_t i = 0; i < handles.size(); ++i) {
    // zes and ze know the same devices by different types; those come before all others.
    for (uint16_t k = 0; k < handles.size(); ++k)
      if (k != i && handles[k].short_name == handles[i].short_name) alike_[i].push_back(k);
    for (uint16_t k = 0; k < handles.size(); ++k)
      if (handles[k].short_name != handles[i].short_name) alike_[i].push_back(k);
    if (handles[i].short_name == "image" || handles[i].short_name == "sampler")
      kernel_classes_.push_back(i);
    if (handles[i].short_name == "physical_mem") physical_memory_class_ = i;
  }
  for (const auto& each : objects().all()) {
    const uint16_t kind = each.handle.handle_class;
    const bool is_pointed_at =
        kind == trace::memory_class ||
        std::find(kernel_classes_.begin(), kernel_classes_.end(), kind) != kernel_classes_.end();
    if (is_pointed_at && line_.includes(each.handle.process, each.from_ns))
      widen_bounds(each.handle.value, each.size_bytes);
  }
}

void address_book::widen_bounds(uint64_t address, uint64_t bytes) {
  const uint64_t distance = std::min(std::max<uint64_t>(bytes, 1) - 1, UINT64_MAX - address);
  bounds_[half_of(address)].include(address, address + distance);
}

std::optional<slot_id> address_book::find_handle(uint16_t handle_class, uint64_t value,
                                                 uint64_t time_ns) const {
  if (value == 0 || handle_class >= alike_.size()) return std::nullopt;
  return find_in_lineage(time_ns, [&](uint32_t process, uint64_t then_ns) {
    return find_handle_in(process, handle_class, value, then_ns);
  });
}

std::optional<slot_id> address_book::find_handle_in(uint32_t process, uint16_t handle_class,
                                                    uint64_t value, uint64_t time_ns) const {
  if (const auto found = objects().find({process, handle_class, value}, time_ns))
    return slot_id{trace::index_of(*found)};
  std::optional<slot_id> released;
  for (const uint16_t other : alike_[handle_class]) {
    const auto found = objects().find({process, other, value}, time_ns);
    if (!found) continue;
    if (objects()[*found].until_ns > time_ns) return slot_id{trace::index_of(*found)};
    if (!released) released = slot_id{trace::index_of(*found)};
  }
  return released;
}

std::optional<slot_place> address_book::find_memory(uint64_t address, uint64_t time_ns) const {
  if (address == 0) return std::nullopt;
  const auto live = find_in_lineage(
      time_ns, [&](uint32_t process, uint64_t then_ns) -> std::optional<slot_place> {
        const auto containing = objects().find_memory(process, address, then_ns);
        if (!containing || objects()[*containing].until_ns <= then_ns) return std::nullopt;
        return slot_place{slot_id{trace::index_of(*containing)},
                          address - objects()[*containing].handle.value};
      });
  if (live) return live;
  for (auto each = pointers_.upper_bound(address); each != pointers_.begin();) {
    --each;
    const auto& [begin, known] = *each;
    if (address - begin >= known.bytes) break;
    if (known.from_ns <= time_ns)
      return slot_place{slot_id{static_cast<uint32_t>(objects().all().size() + known.index)},
                        address - begin};
  }
  const auto exact = find_in_lineage(time_ns, [&](uint32_t process, uint64_t then_ns) {
    return objects().find({process, trace::memory_class, address}, then_ns);
  });
  if (exact) return slot_place{slot_id{trace::index_of(*exact)}, 0};
  if (!physical_memory_class_) return std::nullopt;
  const auto physical = find_in_lineage(time_ns, [&](uint32_t process, uint64_t then_ns) {
    return objects().find({process, *physical_memory_class_, address}, then_ns);
  });
  if (physical && objects()[*physical].until_ns > time_ns)
    return slot_place{slot_id{trace::index_of(*physical)}, 0};
  return std::nullopt;
}

std::optional<slot_id> address_book::find_kernel_object(uint64_t value, uint64_t time_ns) const {
  return find_in_lineage(time_ns,
                         [&](uint32_t process, uint64_t then_ns) -> std::optional<slot_id> {
                           for (const uint16_t kind : kernel_classes_) {
                             const auto found = objects().find({process, kind, value}, then_ns);
                             if (found && objects()[*found].until_ns > then_ns)
                               return slot_id{trace::index_of(*found)};
                           }
                           return std::nullopt;
                         });
}

void address_book::add_pointer(uint64_t address, uint64_t bytes, uint64_t time_ns) {
  if (address == 0 || find_memory(address, time_ns)) return;
  const auto index = first_pointer_ + static_cast<uint32_t>(pointers_.size());
  pointers_.insert({address, {std::max<uint64_t>(bytes, 1), time_ns, index}});
  widen_bounds(address, bytes);
}

opaque_handle to_opaque(std::span<const std::byte> bytes) {
  opaque_handle out{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), out.size()), out.begin());
  return out;
}

opaque_id address_book::add_opaque(std::span<const std::byte> bytes) {
  return opaques_.try_emplace(to_opaque(bytes), opaque_id{opaque_count()}).first->second;
}

bool address_book::knows_opaque(std::span<const std::byte> bytes) const {
  return opaques_.contains(to_opaque(bytes));
}

// A program that sends a handle with its file descriptor gets another number for that; the rest of
// the handle tells which one it was.
std::optional<opaque_id> address_book::find_opaque(std::span<const std::byte> bytes) const {
  const opaque_handle key = to_opaque(bytes);
  if (const auto exact = opaques_.find(key); exact != opaques_.end()) return exact->second;
  std::optional<opaque_id> found;
  for (const auto& [known, id] : opaques_)
    if (std::equal(known.begin() + descriptor_bytes, known.end(), key.begin() + descriptor_bytes)) {
      if (found) return std::nullopt;
      found = id;
    }
  return found;
}

std::vector<embedded_pointer> address_book::find_pointers(std::span<const std::byte> content,
                                                          uint64_t time_ns) const {
  constexpr size_t word_bytes = sizeof(uint64_t);
  std::vector<embedded_pointer> found;
  for (size_t offset = 0; offset + word_bytes <= content.size(); offset += word_bytes) {
    uint64_t word = 0;
    std::memcpy(&word, content.data() + offset, word_bytes);
    // Nothing is mapped in the first pages.
    if (word < 0x10000 || !may_be_address(word)) continue;
    const auto memory = find_memory(word, time_ns);
    const auto* owner = memory ? object_of(memory->slot) : nullptr;
    if (memory && (owner == nullptr || is_live(*owner, time_ns))) {
      found.push_back({offset, *memory});
    } else if (const auto object = find_kernel_object(word, time_ns)) {
      found.push_back({offset, {*object, 0}});
    }
  }
  return found;
}

std::vector<embedded_pointer> address_book::find_argument_pointers(
    std::span<const std::byte> content, uint64_t time_ns) const {
  auto found = find_pointers(content, time_ns);
  constexpr size_t word_bytes = sizeof(uint64_t);
  const size_t others = found.size();
  size_t next = 0;
  for (size_t offset = 0; offset + word_bytes <= content.size(); offset += word_bytes) {
    if (next < others && found[next].offset == offset) {
      ++next;
      continue;
    }
    uint64_t word = 0;
    std::memcpy(&word, content.data() + offset, word_bytes);
    if (const auto host = word >= 0x10000 ? find_host(word) : std::nullopt)
      found.push_back({offset, {}, host});
  }
  std::inplace_merge(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(others), found.end(),
      [](const embedded_pointer& a, const embedded_pointer& b) { return a.offset < b.offset; });
  return found;
}

std::vector<std::byte> without_pointers(std::span<const std::byte> content,
                                        std::span<const embedded_pointer> pointers) {
  std::vector<std::byte> out(content.begin(), content.end());
  for (const auto& each : pointers)
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(each.offset), sizeof(uint64_t),
                std::byte{0});
  return out;
}

bool address_book::is_live(const trace::object& object, uint64_t time_ns) const {
  for (const auto& each : line_.members())
    if (each.process == object.handle.process)
      return object.until_ns > std::min(time_ns, each.until_ns);
  return false;
}

const trace::object* address_book::object_of(slot_id slot) const {
  const auto all = objects().all();
  return index_of(slot) < all.size() ? &all[index_of(slot)] : nullptr;
}

}  // namespace zevent::replay
