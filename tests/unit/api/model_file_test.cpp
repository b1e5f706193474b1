#include "api/model_file.hpp"

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <algorithm>
#include <random>
#include <string>

#include "api/call_codec.hpp"
#include "api/print.hpp"
#include "base/byte_writer.hpp"
#include "encoded_call.hpp"

namespace zevent::api {
namespace {

const std::vector<std::byte>& builtin_bytes() {
  static const std::vector<std::byte> bytes = write_model(builtin_model());
  return bytes;
}

TEST(model_file, model_comes_back_as_it_was) {
  const auto loaded = read_model(builtin_bytes());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ((*loaded)->version, builtin_model().version);
  EXPECT_EQ((*loaded)->functions.size(), builtin_model().functions.size());
  EXPECT_EQ(write_model(**loaded), builtin_bytes());
}

TEST(model_file, calls_are_read_by_a_model_that_was_loaded) {
  const auto loaded = read_model(builtin_bytes());
  ASSERT_TRUE(loaded);
  const model& m = **loaded;
  const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 3, ZE_EVENT_SCOPE_FLAG_HOST, 0};
  const ze_event_desc_t* desc_pointer = &desc;
  const auto pool = handle_of<ze_event_pool_handle_t>(0x5000);
  ze_event_handle_t* no_event = nullptr;
  encoded_call call("zeEventCreate", pool, desc_pointer, no_event);
  call.enter();
  const auto decoded = decode_inputs(m, *m.find_function("zeEventCreate"), call.input_bytes());
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(print_call(m, *decoded, nullptr, 0),
            "zeEventCreate(hEventPool=0x5000, desc={index=3, signal=HOST, wait=0}, phEvent=null) → "
            "SUCCESS");
}

TEST(model_file, other_files_and_later_formats_are_refused_by_name) {
  EXPECT_EQ(read_model({}).error().message, "this is not an API description");
  auto later = builtin_bytes();
  later[8] = std::byte{9};
  EXPECT_EQ(read_model(later).error().message,
            "the API description has format 9, this build reads format 1: use a newer zevent");
}

TEST(model_file, truncated_model_is_refused) {
  const auto& bytes = builtin_bytes();
  for (size_t size = 16; size < bytes.size(); size += 1 + size / 50)
    EXPECT_FALSE(read_model(std::span(bytes).first(size))) << size;
}

TEST(model_file, damaged_model_is_refused_or_safe_to_use) {
  std::mt19937_64 random(3);
  std::vector<std::byte> call(64);
  for (int round = 0; round < 300; ++round) {
    auto bytes = builtin_bytes();
    for (int change = 0; change < 4; ++change)
      bytes[16 + random() % (bytes.size() - 16)] = static_cast<std::byte>(random() & 0x0f);
    const auto loaded = read_model(bytes);
    if (!loaded) continue;
    for (const function& f : (*loaded)->functions) {
      for (std::byte& b : call) b = static_cast<std::byte>(random() & 1);
      const auto decoded = decode_inputs(**loaded, f, call);
      if (decoded) print_call(**loaded, *decoded, nullptr, std::nullopt);
    }
  }
}

// The same model with one name replaced, wherever it stands.
result<std::shared_ptr<const model>> with_name(std::string_view name, std::string_view other) {
  const auto& bytes = builtin_bytes();
  const auto as_text = [](std::string_view text) {
    byte_writer out;
    out.text(text);
    return out.take();
  };
  const auto from = as_text(name), to = as_text(other);
  std::vector<std::byte> out;
  size_t replaced = 0;
  for (auto at = bytes.begin(); at != bytes.end();) {
    const auto next = std::search(at, bytes.end(), from.begin(), from.end());
    out.insert(out.end(), at, next);
    at = next;
    if (next == bytes.end()) break;
    out.insert(out.end(), to.begin(), to.end());
    at += static_cast<std::ptrdiff_t>(from.size());
    ++replaced;
  }
  EXPECT_GT(replaced, 0u) << name;
  return read_model(out);
}

TEST(model_file, names_that_are_not_of_level_zero_are_refused) {
  struct renaming {
    std::string_view from, to;
  };
  const renaming refused[] = {
      {"zeEventCreate", "system"},
      {"zeEventCreate", "zeEventCreate(); system(\"id\")"},
      {"zeEventCreate", "zeEvent\nCreate"},
      {"zeEventCreate", "ze"},
      {"zeEventCreate", ""},
      {"hEventPool", "a); system(\"id\"); //"},
      {"hEventPool", "while"},
      {"hEventPool", "3d"},
      {"ze_event_desc_t", "FILE"},
      {"ze_event_desc_t", "ze_event_desc_t x"},
      {"ze_event_desc_t*", "ze_event_desc_t*)(system(\"id\")"},
      {"ze_event_handle_t", "../../x"},
      {"ZE_EVENT_POOL_FLAG_HOST_VISIBLE", "system(\"id\")"},
      {"ZE_EVENT_POOL_FLAG_HOST_VISIBLE", "ZE_EVENT\x01"},
      {"HOST_VISIBLE", "\x1b[2J"},
      {"event_pool", "event`id`"},
      {"specialization constant", "*/ x"},
  };
  for (const auto& [from, to] : refused) {
    const auto loaded = with_name(from, to);
    ASSERT_FALSE(loaded) << from << " as " << to;
    EXPECT_EQ(loaded.error().message, "the API description has names that are not of Level Zero")
        << from << " as " << to;
  }
  std::string long_name(300, 'a');
  long_name.replace(0, 3, "zeA");
  EXPECT_FALSE(with_name("zeEventCreate", long_name));
  const renaming accepted[] = {{"zeEventCreate", "zeEventCreate2"},
                               {"zeEventCreate", "zexEventCreate_Exp"},
                               {"hEventPool", "hPool_2"},
                               {"ze_event_desc_t", "zex_event_desc2_t"},
                               {"ZE_EVENT_POOL_FLAG_HOST_VISIBLE", "ZEX_3D"}};
  for (const auto& [from, to] : accepted) EXPECT_TRUE(with_name(from, to)) << from << " as " << to;
}

TEST(model_file, cycles_of_pointers_are_refused) {
  const model& m = builtin_model();
  std::vector<type> types(m.types.begin(), m.types.end());
  const auto pointer = std::find_if(
      types.begin(), types.end(), [](const type& each) { return each.kind == type_kind::pointer; });
  ASSERT_NE(pointer, types.end());
  pointer->index = static_cast<uint16_t>(pointer - types.begin());
  model circular = m;
  circular.types = types;
  const auto loaded = read_model(write_model(circular));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "the API description is damaged");
}

}  // namespace
}  // namespace zevent::api
