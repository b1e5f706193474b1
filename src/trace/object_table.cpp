#include "trace/object_table.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"
#include "trace/column.hpp"

namespace zevent::trace {
namespace {

enum column : column_id {
  process_column = 1,
  class_column = 2,
  value_column = 3,
  size_column = 4,
  first_call_column = 5,
  released_by_column = 6,
  from_column = 7,
  until_column = 8,
  flags_column = 9,
};

constexpr uint64_t created_flag = 1;
constexpr size_t objects_per_chunk = 32768;

// Small distances in either direction become small numbers.
uint64_t zigzag(uint64_t from, uint64_t to) {
  const uint64_t distance = to - from;
  return distance << 1 ^ (distance >> 63 != 0 ? ~uint64_t{0} : 0);
}

uint64_t undo_zigzag(uint64_t from, uint64_t coded) {
  return from + (coded >> 1 ^ ((coded & 1) != 0 ? ~uint64_t{0} : 0));
}

result<void> write_chunk(std::span<const object> objects, uint64_t first_item, chunk_writer& file) {
  std::vector<uint64_t> processes, classes, values, sizes, first_calls, released, from, until,
      flags;
  uint64_t last_call = 0, last_from = 0;
  for (const auto& each : objects) {
    const uint64_t first_call = number_of(each.first_call);
    processes.push_back(each.handle.process);
    classes.push_back(each.handle.handle_class);
    values.push_back(each.handle.value);
    sizes.push_back(each.size_bytes);
    first_calls.push_back(zigzag(last_call, first_call));
    released.push_back(each.released_by ? 1 + zigzag(first_call, number_of(*each.released_by)) : 0);
    from.push_back(each.from_ns - last_from);
    until.push_back(each.released_by ? zigzag(each.from_ns, each.until_ns) : 0);
    flags.push_back(each.created ? created_flag : 0);
    last_call = first_call;
    last_from = each.from_ns;
  }
  const column_planes columns[] = {{process_column, processes},
                                   {class_column, classes},
                                   {value_column, values},
                                   {size_column, sizes},
                                   {first_call_column, first_calls},
                                   {released_by_column, released},
                                   {from_column, from},
                                   {until_column, until},
                                   {flags_column, flags}};
  std::vector<stream_source> streams;
  for (const auto& each : columns) each.append_streams(streams);
  return file.append(chunk_kind::objects, first_item, objects.size(), streams);
}

}  // namespace

uint16_t class_named(const api::model& model, std::string_view name) {
  for (uint16_t i = 0; i < model.handles.size(); ++i)
    if (model.handles[i].name == name) return i;
  return memory_class;
}

size_t handle_key_hash::operator()(const handle_key& key) const {
  const uint64_t mixed =
      (key.value ^ uint64_t{key.process} << 48 ^ uint64_t{key.handle_class} << 32) *
      0x9e3779b97f4a7c15;
  return static_cast<size_t>(mixed ^ mixed >> 32);
}

object_table::object_table(std::vector<object> objects) : objects_(std::move(objects)) {
  std::stable_sort(objects_.begin(), objects_.end(),
                   [](const object& a, const object& b) { return a.from_ns < b.from_ns; });
  std::unordered_map<uint16_t, uint32_t> count_of_class;
  for (uint32_t i = 0; i < objects_.size(); ++i) {
    auto& each = objects_[i];
    each.ordinal = count_of_class[each.handle.handle_class]++;
    lives_[each.handle].push_back(object_id{i});
    if (each.handle.handle_class == memory_class)
      regions_[each.handle.process].push_back({each.handle.value, 0, object_id{i}});
  }
  for (auto& [process, regions] : regions_) {
    std::stable_sort(regions.begin(), regions.end(),
                     [](const region& a, const region& b) { return a.begin < b.begin; });
    uint64_t furthest = 0;
    for (auto& each : regions) {
      const uint64_t size = (*this)[each.id].size_bytes;
      furthest = std::max(furthest, each.begin + std::min(size, UINT64_MAX - each.begin));
      each.furthest_end = furthest;
    }
  }
}

std::optional<object_id> object_table::find(const handle_key& handle, uint64_t time_ns) const {
  const auto found = lives_.find(handle);
  if (found == lives_.end()) return std::nullopt;
  const auto& lives = found->second;
  const auto later =
      std::upper_bound(lives.begin(), lives.end(), time_ns,
                       [&](uint64_t time, object_id id) { return time < (*this)[id].from_ns; });
  if (later == lives.begin()) return std::nullopt;
  return *std::prev(later);
}

std::optional<object_id> object_table::find_memory(uint32_t process, uint64_t address,
                                                   uint64_t time_ns) const {
  const auto found = regions_.find(process);
  if (found == regions_.end()) return std::nullopt;
  const auto& regions = found->second;
  auto each = std::upper_bound(regions.begin(), regions.end(), address,
                               [](uint64_t a, const region& r) { return a < r.begin; });
  std::optional<object_id> best;
  // Memory that was freed and given out again in other pieces overlaps: the last that began counts.
  while (each != regions.begin() && std::prev(each)->furthest_end > address) {
    --each;
    const auto& candidate = (*this)[each->id];
    if (address - each->begin >= candidate.size_bytes || candidate.from_ns > time_ns) continue;
    if (!best || (*this)[*best].from_ns < candidate.from_ns) best = each->id;
  }
  return best;
}

std::string object_table::name(object_id id, const api::model& model) const {
  const auto& each = (*this)[id];
  const auto kind = each.handle.handle_class;
  if (kind == memory_class) return fmt::format("memory_{}", each.ordinal);
  if (kind >= model.handles.size()) return fmt::format("object_{}", each.ordinal);
  return fmt::format("{}_{}", model.handles[kind].short_name, each.ordinal);
}

result<void> write_objects(std::span<const object> objects, chunk_writer& file) {
  for (size_t first = 0; first < objects.size(); first += objects_per_chunk) {
    const auto part = objects.subspan(first, std::min(objects_per_chunk, objects.size() - first));
    if (auto written = write_chunk(part, first, file); !written) return written;
  }
  return {};
}

result<std::vector<object>> read_objects(const chunk& source, const chunk_entry& entry) {
  if (entry.items > max_calls_per_chunk)
    return fail("the chunk at byte {} says it holds {} objects", entry.offset, entry.items);
  const auto count = static_cast<size_t>(entry.items);
  std::vector<uint64_t> values(count), sizes(count), first_calls(count), released(count),
      from(count), until(count);
  std::vector<uint32_t> processes(count), classes(count);
  std::vector<uint8_t> flags(count);
  for (auto decoded : {decode_column(source, value_column, std::span(values)),
                       decode_column(source, size_column, std::span(sizes)),
                       decode_column(source, first_call_column, std::span(first_calls)),
                       decode_column(source, released_by_column, std::span(released)),
                       decode_column(source, from_column, std::span(from)),
                       decode_column(source, until_column, std::span(until)),
                       decode_column(source, process_column, std::span(processes)),
                       decode_column(source, class_column, std::span(classes)),
                       decode_column(source, flags_column, std::span(flags))})
    if (!decoded) return tl::unexpected(decoded.error());
  if (!undo_delta(from, 0)) return fail("the times of objects overflow");

  std::vector<object> objects(count);
  uint64_t last_call = 0;
  for (size_t i = 0; i < count; ++i) {
    auto& each = objects[i];
    each.handle = {processes[i], static_cast<uint16_t>(classes[i]), values[i]};
    each.created = (flags[i] & created_flag) != 0;
    each.size_bytes = sizes[i];
    last_call = undo_zigzag(last_call, first_calls[i]);
    each.first_call = call_number{last_call};
    each.from_ns = from[i];
    if (released[i] == 0) continue;
    each.released_by = call_number{undo_zigzag(last_call, released[i] - 1)};
    each.until_ns = undo_zigzag(each.from_ns, until[i]);
  }
  return objects;
}

}  // namespace zevent::trace
