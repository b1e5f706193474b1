#pragma once

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace zevent {

// The kinds of command list that order their commands differently.
enum class list_kind {
  regular,
  regular_in_order,
  regular_relaxed,
  immediate,
  immediate_in_order,
  immediate_synchronous,
};

inline constexpr list_kind all_list_kinds[] = {
    list_kind::regular,   list_kind::regular_in_order,   list_kind::regular_relaxed,
    list_kind::immediate, list_kind::immediate_in_order, list_kind::immediate_synchronous,
};

inline std::string name_of(list_kind kind) {
  switch (kind) {
    case list_kind::regular:
      return "regular";
    case list_kind::regular_in_order:
      return "regular_in_order";
    case list_kind::regular_relaxed:
      return "regular_relaxed";
    case list_kind::immediate:
      return "immediate";
    case list_kind::immediate_in_order:
      return "immediate_in_order";
    case list_kind::immediate_synchronous:
      return "immediate_synchronous";
  }
  return "unknown";
}

inline void PrintTo(list_kind kind, std::ostream* out) {
  *out << name_of(kind);
}

inline bool is_in_order(list_kind kind) {
  return kind == list_kind::regular_in_order || kind == list_kind::immediate_in_order;
}

#define ZE_OK(call) ASSERT_EQ(call, ZE_RESULT_SUCCESS)

// The first device of the first driver, and a context.
class device_test : public testing::Test {
 protected:
  void SetUp() override {
    uint32_t one = 1;
    ZE_OK(zeInit(0));
    ZE_OK(zeDriverGet(&one, &driver));
    one = 1;
    ZE_OK(zeDeviceGet(driver, &one, &device));
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ZE_OK(zeContextCreate(driver, &desc, &context));
  }
  void TearDown() override {
    if (context != nullptr) {
      EXPECT_EQ(zeContextDestroy(context), ZE_RESULT_SUCCESS);
    }
  }

  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
};

// A list of any kind that is run to its end by finish().
class test_list {
 public:
  test_list(ze_context_handle_t context, ze_device_handle_t device, list_kind kind)
      : immediate_(kind >= list_kind::immediate) {
    ze_command_queue_desc_t queue_desc{};
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue_desc.mode = kind == list_kind::immediate_synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                                               : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    if (immediate_) {
      if (is_in_order(kind)) queue_desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
      EXPECT_EQ(zeCommandListCreateImmediate(context, device, &queue_desc, &list_),
                ZE_RESULT_SUCCESS);
      return;
    }
    EXPECT_EQ(zeCommandQueueCreate(context, device, &queue_desc, &queue_), ZE_RESULT_SUCCESS);
    ze_command_list_desc_t list_desc{};
    list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
    if (is_in_order(kind)) list_desc.flags = ZE_COMMAND_LIST_FLAG_IN_ORDER;
    if (kind == list_kind::regular_relaxed) {
      list_desc.flags = ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING;
    }
    EXPECT_EQ(zeCommandListCreate(context, device, &list_desc, &list_), ZE_RESULT_SUCCESS);
  }
  test_list(const test_list&) = delete;
  test_list& operator=(const test_list&) = delete;
  ~test_list() {
    zeCommandListDestroy(list_);
    if (queue_ != nullptr) zeCommandQueueDestroy(queue_);
  }

  operator ze_command_list_handle_t() const { return list_; }

  // Starts what was appended; an immediate list has started already.
  void start() {
    if (immediate_) return;
    EXPECT_EQ(zeCommandListClose(list_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue_, 1, &list_, nullptr), ZE_RESULT_SUCCESS);
  }

  // Waits until everything has run.
  void finish() {
    EXPECT_EQ(immediate_ ? zeCommandListHostSynchronize(list_, UINT64_MAX)
                         : zeCommandQueueSynchronize(queue_, UINT64_MAX),
              ZE_RESULT_SUCCESS);
  }

 private:
  bool immediate_;
  ze_command_list_handle_t list_ = nullptr;
  ze_command_queue_handle_t queue_ = nullptr;
};

}  // namespace zevent
