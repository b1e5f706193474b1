#include "random_arguments.hpp"

#include <algorithm>
#include <cstring>

namespace zevent::recorder_test {
namespace {

using namespace api;

const model& the_model() {
  return builtin_model();
}

const type& type_of(const variable& v) {
  return the_model().types[v.type_index];
}

// Every integer is at most this, for it may be the length of something.
constexpr uint64_t largest_number = 5;
constexpr size_t most_elements = 8;

// Its fields look for lengths among the parameters of one function.
bool belongs_to_one_function(const record& r) {
  return std::any_of(r.fields.begin(), r.fields.end(), [](const variable& field) {
    return field.pointee.source == length_source::call_pointee;
  });
}

}  // namespace

std::byte* random_arguments::allocate(size_t bytes) {
  return memory_.emplace_back(std::max<size_t>(bytes, 8)).data();
}

std::vector<void*> random_arguments::make(const function& f) {
  memory_.clear();
  api_ = f.api;
  std::vector<void*> arguments;
  for (const variable& v : f.parameters) {
    std::byte* at = allocate(type_of(v).size_bytes);
    fill_variable(v, at);
    arguments.push_back(at);
  }
  arguments.push_back(nullptr);
  return arguments;
}

void random_arguments::fill_variable(const variable& v, std::byte* at) {
  const type& t = type_of(v);
  for (size_t i = 0; i < std::max<uint32_t>(v.array_length, 1); ++i)
    fill_element(t, at + i * t.size_bytes, v.pointee, v.inner);
}

void random_arguments::fill_element(const type& t, std::byte* at, const extent& e,
                                    const extent& inner) {
  if (t.kind == type_kind::record) return fill_record(the_model().records[t.index], at);
  if (t.kind != type_kind::pointer) return fill_scalar(t, at);
  std::byte* target = chance(20) ? nullptr : content(the_model().types[t.index], e, inner);
  std::memcpy(at, &target, sizeof(target));
}

void random_arguments::fill_scalar(const type& t, std::byte* at) {
  if (t.kind == type_kind::handle || t.kind == type_kind::function ||
      t.kind == type_kind::floating) {
    for (size_t i = 0; i < t.size_bytes; ++i) at[i] = static_cast<std::byte>(number(1, 255));
    return;
  }
  const uint64_t value = number(0, largest_number);
  std::memcpy(at, &value, t.size_bytes);
}

void random_arguments::fill_record(const record& r, std::byte* at) {
  if (r.is_union) {
    for (size_t i = 0; i < r.size_bytes; ++i) at[i] = static_cast<std::byte>(number(0, 255));
    return;
  }
  for (const variable& field : r.fields) fill_variable(field, at + field.offset_bytes);
}

std::byte* random_arguments::content(const type& pointee, const extent& e, const extent& inner) {
  switch (e.kind) {
    case extent_kind::string: {
      const size_t size = number(0, 40);
      std::byte* text = allocate(size + 1);
      std::fill_n(text, size, std::byte{'a'});
      return text;
    }
    case extent_kind::chain:
      return chain();
    case extent_kind::single:
    case extent_kind::elements: {
      const size_t size = std::max<size_t>(pointee.size_bytes, 1);
      const size_t count = e.kind == extent_kind::single ? 1 : most_elements;
      std::byte* all = allocate(size * count);
      for (size_t i = 0; i < count; ++i) {
        if (pointee.kind == type_kind::nothing)
          all[i] = static_cast<std::byte>(number(0, 255));
        else
          fill_element(pointee, all + i * size, inner, {});
      }
      return all;
    }
    default:
      return allocate(8);
  }
}

std::byte* random_arguments::chain() {
  const auto stypes = the_model().stypes;
  const auto& meaning = stypes[number(0, stypes.size() - 1)];
  if (chain_depth_ == 3 || chance(10) || meaning.space != stype_space(api_) ||
      belongs_to_one_function(the_model().records[meaning.record])) {
    std::byte* unknown = allocate(16);
    const uint32_t stype = 0x7fff0000;
    std::memcpy(unknown, &stype, sizeof(stype));
    return unknown;
  }
  ++chain_depth_;
  const record& r = the_model().records[meaning.record];
  std::byte* at = allocate(r.size_bytes);
  fill_record(r, at);
  std::memcpy(at, &meaning.stype, sizeof(meaning.stype));
  --chain_depth_;
  return at;
}

void random_arguments::scribble(const function& f, const void* const* arguments) {
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const variable& v = f.parameters[i];
    const type& t = type_of(v);
    if (t.kind != type_kind::pointer || v.way == direction::in) continue;
    std::byte* at = nullptr;
    std::memcpy(&at, arguments[i], sizeof(at));
    if (at != nullptr) scribble_content(the_model().types[t.index], v.pointee, at);
  }
}

// Numbers and handles only: a driver does not move the program's buffers.
void random_arguments::scribble_content(const type& pointee, const extent& e, std::byte* at) {
  if (e.kind != extent_kind::single && e.kind != extent_kind::elements) return;
  const size_t count = e.kind == extent_kind::single ? 1 : most_elements;
  for (size_t i = 0; i < count; ++i) {
    std::byte* element = at + i * pointee.size_bytes;
    if (pointee.kind == type_kind::record) {
      const record& r = the_model().records[pointee.index];
      for (const variable& field : r.fields)
        if (field.way != direction::in && type_of(field).kind != type_kind::pointer &&
            type_of(field).kind != type_kind::record)
          fill_variable(field, element + field.offset_bytes);
    } else if (pointee.kind != type_kind::pointer && pointee.kind != type_kind::nothing) {
      fill_scalar(pointee, element);
    }
  }
}

}  // namespace zevent::recorder_test
