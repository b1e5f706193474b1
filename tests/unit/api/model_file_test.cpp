#include "api/model_file.hpp"

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <random>

#include "api/call_codec.hpp"
#include "api/print.hpp"
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

}  // namespace
}  // namespace zevent::api
