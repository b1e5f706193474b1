#include "zevent/error.hpp"

#include <gtest/gtest.h>

namespace zevent {
namespace {

TEST(error, says_the_call_the_result_and_the_reason) {
  const error e(ZE_RESULT_ERROR_DEVICE_LOST, "zeEventHostSynchronize", "the device is gone");
  EXPECT_STREQ(e.what(),
               "zeEventHostSynchronize: ZE_RESULT_ERROR_DEVICE_LOST (0x70000001): the device is "
               "gone");
  EXPECT_EQ(e.result(), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_STREQ(e.call(), "zeEventHostSynchronize");
  EXPECT_EQ(e.appended(), 0u);
}

TEST(error, says_how_much_was_done_before) {
  const error e(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "zeCommandListAppendMemoryCopy", "", 7);
  EXPECT_STREQ(e.what(),
               "zeCommandListAppendMemoryCopy: ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY (0x70000002); 7 "
               "commands were appended before");
  EXPECT_EQ(e.appended(), 7u);
}

TEST(result_name, knows_the_headers_names_and_survives_others) {
  EXPECT_STREQ(result_name(ZE_RESULT_SUCCESS), "ZE_RESULT_SUCCESS");
  EXPECT_STREQ(result_name(ZE_RESULT_ERROR_UNKNOWN), "ZE_RESULT_ERROR_UNKNOWN");
  EXPECT_STREQ(result_name(static_cast<ze_result_t>(0x1234)), "unknown result");
}

}  // namespace
}  // namespace zevent
