// Launches in mutable command lists: arguments, shapes and kernels that change between executions.

#include <numeric>

#include "image_fixture.hpp"
#include "kernels/arguments_spv.h"
#include "kernels/group_reduce_spv.h"
#include "kernels/ids_spv.h"
#include "kernels/vector_add_spv.h"

namespace zevent::driver::test {
namespace {

constexpr auto invalid = ZE_RESULT_ERROR_INVALID_ARGUMENT;

class mutable_launches : public image_fixture {
 protected:
  // The descriptors of one update, chained in the order they are added.
  class change {
   public:
    explicit change(uint64_t id) : id_(id) {}

    template <typename T>
    change& argument(uint32_t index, const T& value) {
      return argument(index, sizeof value, &value);
    }
    change& argument(uint32_t index, size_t bytes, const void* value) {
      arguments_.push_back(
          {ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC, nullptr, id_, index, bytes, value});
      return *this;
    }
    change& group_count(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
      groups_ = {x, y, z};
      count_ = {ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC, nullptr, id_, &groups_};
      return *this;
    }
    change& group_size(uint32_t x, uint32_t y = 1, uint32_t z = 1) {
      size_ = {ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC, nullptr, id_, x, y, z};
      return *this;
    }
    change& offset(uint32_t x, uint32_t y = 0, uint32_t z = 0) {
      offset_ = {ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC, nullptr, id_, x, y, z};
      return *this;
    }

    ze_result_t of(ze_command_list_handle_t list) {
      const void* chain = nullptr;
      const auto link = [&](auto& descriptor) {
        if (descriptor.stype == 0) return;
        descriptor.pNext = chain;
        chain = &descriptor;
      };
      link(offset_);
      link(size_);
      link(count_);
      for (auto each = arguments_.rbegin(); each != arguments_.rend(); ++each) link(*each);
      const ze_mutable_commands_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC,
                                                   chain, 0};
      return zeCommandListUpdateMutableCommandsExp(list, &desc);
    }

   private:
    const uint64_t id_;
    std::vector<ze_mutable_kernel_argument_exp_desc_t> arguments_;
    ze_group_count_t groups_{};
    ze_mutable_group_count_exp_desc_t count_{};
    ze_mutable_group_size_exp_desc_t size_{};
    ze_mutable_global_offset_exp_desc_t offset_{};
  };

  static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint32_t groups,
                     ze_event_handle_t signal = nullptr,
                     std::vector<ze_event_handle_t> waits = {}) {
    const ze_group_count_t count = {groups, 1, 1};
    ASSERT_EQ(zeCommandListAppendLaunchKernel(list, kernel, &count, signal,
                                              static_cast<uint32_t>(waits.size()), waits.data()),
              ZE_RESULT_SUCCESS);
  }

  // Asks for the id of a command that any of the kernels may take over.
  static uint64_t next_id_of(
      ze_command_list_handle_t list, std::vector<ze_kernel_handle_t> kernels,
      ze_mutable_command_exp_flags_t flags = ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS |
                                             ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT |
                                             ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE |
                                             ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION) {
    const ze_mutable_command_id_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
                                                   nullptr, flags};
    uint64_t id = 0;
    EXPECT_EQ(zeCommandListGetNextCommandIdWithKernelsExp(
                  list, &desc, static_cast<uint32_t>(kernels.size()), kernels.data(), &id),
              ZE_RESULT_SUCCESS);
    return id;
  }

  static ze_result_t update_kernel(ze_command_list_handle_t list, uint64_t id,
                                   ze_kernel_handle_t kernel) {
    return zeCommandListUpdateMutableCommandKernelsExp(list, 1, &id, &kernel);
  }
};

TEST_F(mutable_launches, run_with_the_new_arguments) {
  auto* numbers = shared_memory<float>(4);
  float *a = numbers, *b = numbers + 1, *sum = numbers + 2, *other = numbers + 3;
  *a = 1;
  *b = 2;
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  set_all(kernel, a, b, sum, uint32_t{1});
  const auto list = mutable_list();
  const uint64_t id = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS);
  launch(list, kernel, 1);
  close_list(list);
  const auto on = queue();
  execute_and_wait(on, list);
  EXPECT_EQ(*sum, 3.0F);

  set(kernel, 1, a);
  ASSERT_EQ(change(id).argument(0, sum).argument(2, other).of(list), ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(on, list);
  EXPECT_EQ(*other, 5.0F)
      << "what was not updated is as it was at the append, not as in the kernel";
  ASSERT_EQ(change(id).argument(3, uint32_t{0}).of(list), ZE_RESULT_SUCCESS);
  *other = -1;
  close_list(list);
  execute_and_wait(on, list);
  EXPECT_EQ(*other, -1.0F) << "of no numbers";
}

TEST_F(mutable_launches, run_with_the_new_image_even_if_its_handle_is_gone) {
  const auto desc =
      image_desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_UINT, 1, 1);
  const uint32_t one = 1, two = 2;
  const auto first = image_of(desc);
  fill(first, &one);
  ze_image_handle_t second = nullptr;
  ASSERT_EQ(zeImageCreate(context_, device_, &desc, &second), ZE_RESULT_SUCCESS);
  fill(second, &two);
  auto* read = shared_memory<std::array<uint32_t, 4>>(1);
  const auto kernel = kernel_of(module_of(images_spv), "read_unsigned");
  set_all(kernel, first, every_place(1, 1), read);
  const auto list = mutable_list();
  const uint64_t id = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS);
  launch(list, kernel, 1);
  close_list(list);
  const auto on = queue();
  execute_and_wait(on, list);
  EXPECT_EQ(read[0][0], 1U);
  ASSERT_EQ(change(id).argument(0, second).of(list), ZE_RESULT_SUCCESS);
  close_list(list);
  ASSERT_EQ(zeImageDestroy(second), ZE_RESULT_SUCCESS);
  execute_and_wait(on, list);
  EXPECT_EQ(read[0][0], 2U);
}

TEST_F(mutable_launches, run_with_the_new_shape) {
  auto* out = shared_memory<uint64_t>(16 * 64);
  const auto kernel = kernel_of(module_of(ids_spv), "record_ids");
  set_all(kernel, out);
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 4, 1, 1), ZE_RESULT_SUCCESS);
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  launch(list, kernel, 2);
  close_list(list);
  const auto on = queue();
  execute_and_wait(on, list);
  EXPECT_EQ(out[12], 2u) << "groups";
  EXPECT_EQ(out[15], 40101u) << "group size";

  ASSERT_EQ(change(id).group_count(3, 2).group_size(2, 3).offset(10, 20, 30).of(list),
            ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(on, list);
  EXPECT_EQ(out[12], 3u);
  EXPECT_EQ(out[13], 2u);
  EXPECT_EQ(out[15], 20301u);
  for (size_t axis = 0; axis < 3; ++axis) EXPECT_EQ(out[9 + axis], 10 * (axis + 1)) << "offset";
}

TEST_F(mutable_launches, local_memory_changes_its_size) {
  constexpr uint32_t groups = 3;
  auto* in = shared_memory<int>(groups * 64);
  auto* out = shared_memory<int>(groups);
  std::iota(in, in + groups * 64, 0);
  const auto kernel = kernel_of(module_of(group_reduce_spv), "sum_in_argument");
  set_all(kernel, in, out);
  set_local(kernel, 2, 4 * sizeof(int));
  ASSERT_EQ(zeKernelSetGroupSize(kernel, 4, 1, 1), ZE_RESULT_SUCCESS);
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  launch(list, kernel, groups);
  close_list(list);
  ASSERT_EQ(change(id).argument(2, 64 * sizeof(int), nullptr).group_size(64).of(list),
            ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(queue(), list);
  for (uint32_t group = 0; group < groups; ++group) {
    const int first = static_cast<int>(group * 64);
    EXPECT_EQ(out[group], std::accumulate(in + first, in + first + 64, 0));
  }
  EXPECT_EQ(change(id).argument(2, size_t{1} << 40, nullptr).of(list),
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
}

TEST_F(mutable_launches, another_kernel_takes_the_command_over) {
  constexpr uint32_t size = 8;
  auto* in = shared_memory<int>(size);
  auto* out = shared_memory<int>(2);
  std::iota(in, in + size, 1);
  const auto module = module_of(group_reduce_spv);
  const auto by_argument = kernel_of(module, "sum_in_argument");
  const auto by_variable = kernel_of(module, "sum_in_variable");
  set_all(by_argument, in, out);
  set_local(by_argument, 2, size * sizeof(int));
  ASSERT_EQ(zeKernelSetGroupSize(by_argument, size, 1, 1), ZE_RESULT_SUCCESS);
  const auto done = regular_event();
  const auto list = mutable_list();
  const uint64_t id = next_id_of(list, {by_argument, by_variable});
  launch(list, by_argument, 1, done);
  close_list(list);
  const auto on = queue();
  execute_and_wait(on, list);
  EXPECT_EQ(out[0], 36);
  ASSERT_EQ(zeEventHostReset(done), ZE_RESULT_SUCCESS);

  ASSERT_EQ(update_kernel(list, id, by_variable), ZE_RESULT_SUCCESS);
  int* elsewhere = out + 1;
  ASSERT_EQ(change(id).argument(0, in).argument(1, elsewhere).group_size(4).group_count(1).of(list),
            ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(on, list);
  EXPECT_EQ(out[1], 10);
  EXPECT_EQ(zeEventQueryStatus(done), ZE_RESULT_SUCCESS) << "its event has stayed";

  ASSERT_EQ(update_kernel(list, id, by_variable), ZE_RESULT_SUCCESS) << "the one it has";
  close_list(list);
  out[1] = 0;
  execute_and_wait(on, list);
  EXPECT_EQ(out[1], 10) << "nothing was taken away";
}

TEST_F(mutable_launches, a_list_whose_new_kernel_lacks_something_is_not_closed) {
  auto* in = shared_memory<int>(8);
  auto* out = shared_memory<int>(1);
  const auto module = module_of(group_reduce_spv);
  const auto by_argument = kernel_of(module, "sum_in_argument");
  const auto by_variable = kernel_of(module, "sum_in_variable");
  set_all(by_variable, in, out);
  const auto list = mutable_list();
  const uint64_t id = next_id_of(list, {by_argument, by_variable});
  launch(list, by_variable, 1);
  close_list(list);
  ASSERT_EQ(update_kernel(list, id, by_argument), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListClose(list), invalid) << "no arguments";
  ASSERT_EQ(change(id).argument(0, in).argument(1, out).argument(2, 32, nullptr).of(list),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListClose(list), invalid) << "no group size, no group count";
  ASSERT_EQ(change(id).group_size(8).of(list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListClose(list), invalid) << "no group count";
  const char* why = nullptr;
  ASSERT_EQ(zeDriverGetLastErrorDescription(driver_, &why), ZE_RESULT_SUCCESS);
  EXPECT_NE(std::string(why).find("another kernel"), std::string::npos) << why;
  ze_command_list_handle_t executed = list;
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue(), 1, &executed, nullptr), invalid);
  ASSERT_EQ(change(id).group_count(1).of(list), ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(queue(), list);
}

TEST_F(mutable_launches, only_kernels_that_were_named_take_a_command_over) {
  auto* out = shared_memory<int>(8);
  const auto module = module_of(group_reduce_spv);
  const auto named = kernel_of(module, "sum_in_variable");
  const auto stranger = kernel_of(module, "sum_in_argument");
  set_all(named, out, out);
  const auto list = mutable_list();
  const uint64_t id = next_id_of(list, {named});
  launch(list, named, 1);
  const uint64_t no_kernels = next_id(list);
  launch(list, named, 1);
  close_list(list);
  EXPECT_EQ(update_kernel(list, id, stranger), ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE);
  EXPECT_EQ(update_kernel(list, id, nullptr), ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE);
  EXPECT_EQ(update_kernel(list, id, reinterpret_cast<ze_kernel_handle_t>(list)),
            ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE);
  EXPECT_EQ(update_kernel(list, no_kernels, named), invalid)
      << "kernels are not among what changes by default";
  EXPECT_EQ(update_kernel(list, 77, named), invalid);
}

TEST_F(mutable_launches, a_kernel_that_was_destroyed_is_still_launched_and_no_longer_named) {
  auto* in = shared_memory<int>(4);
  auto* out = shared_memory<int>(1);
  std::iota(in, in + 4, 1);
  const auto module = module_of(group_reduce_spv);
  const auto lasting = kernel_of(module, "sum_in_argument");
  const ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "sum_in_variable"};
  ze_kernel_handle_t doomed = nullptr;
  ASSERT_EQ(zeKernelCreate(module, &desc, &doomed), ZE_RESULT_SUCCESS);
  set_all(doomed, in, out);
  ASSERT_EQ(zeKernelSetGroupSize(doomed, 2, 1, 1), ZE_RESULT_SUCCESS);
  const auto list = mutable_list();
  const uint64_t id = next_id_of(list, {doomed, lasting});
  launch(list, doomed, 1);
  close_list(list);
  ASSERT_EQ(zeKernelDestroy(doomed), ZE_RESULT_SUCCESS);
  ASSERT_EQ(change(id).group_size(4).of(list), ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(queue(), list);
  EXPECT_EQ(*out, 10);
  EXPECT_EQ(update_kernel(list, id, doomed), ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE);
}

TEST_F(mutable_launches, an_update_changes_all_of_its_chain_or_nothing) {
  auto* numbers = shared_memory<float>(3);
  numbers[0] = 1;
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  set_all(kernel, numbers, numbers, numbers + 1, uint32_t{1});
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  launch(list, kernel, 1);
  close_list(list);
  float* elsewhere = numbers + 2;
  EXPECT_EQ(change(id).argument(2, elsewhere).argument(9, uint32_t{1}).of(list), invalid)
      << "there is no argument 9";
  const auto on = queue();
  execute_and_wait(on, list);
  EXPECT_EQ(numbers[1], 2.0F);
  EXPECT_EQ(numbers[2], 0.0F);
}

TEST_F(mutable_launches, refuse_what_the_kernel_cannot_take_and_what_was_not_asked_for) {
  auto* out = shared_memory<int>(64);
  const auto module = module_of(arguments_spv);
  const auto fixed = kernel_of(module, "fixed_size");
  set_all(fixed, out);
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  launch(list, fixed, 1);
  const uint64_t counts = next_id(list, ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT);
  launch(list, fixed, 1);
  close_list(list);
  EXPECT_EQ(change(id).group_size(4).of(list), invalid) << "it has a required size";
  EXPECT_EQ(change(id).group_size(0).of(list), invalid);
  EXPECT_EQ(change(id).argument(0, uint16_t{1}).of(list), invalid) << "no pointer is that short";
  const ze_mutable_group_count_exp_desc_t nothing = {ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC,
                                                     nullptr, id, nullptr};
  const ze_mutable_commands_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC,
                                               &nothing, 0};
  EXPECT_EQ(zeCommandListUpdateMutableCommandsExp(list, &desc), invalid);
  EXPECT_EQ(change(counts).group_size(8, 2).of(list), invalid);
  EXPECT_EQ(change(counts).argument(0, out).of(list), invalid);
  EXPECT_EQ(change(counts).offset(1).of(list), invalid);
  EXPECT_EQ(change(counts).group_count(2).of(list), ZE_RESULT_SUCCESS);
}

TEST_F(mutable_launches, executions_in_flight_keep_the_arguments_they_had) {
  auto* numbers = shared_memory<float>(3);
  float *one = numbers, *first = numbers + 1, *second = numbers + 2;
  *one = 1;
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  set_all(kernel, one, one, first, uint32_t{1});
  const auto gate = regular_event();
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  launch(list, kernel, 1, nullptr, {gate});
  close_list(list);
  const auto on = queue();
  execute(on, list);
  ASSERT_EQ(change(id).argument(2, second).of(list), ZE_RESULT_SUCCESS);
  close_list(list);
  ASSERT_EQ(zeEventHostSignal(gate), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueSynchronize(on, forever), ZE_RESULT_SUCCESS);
  EXPECT_EQ(*first, 2.0F);
  EXPECT_EQ(*second, 0.0F);
  execute_and_wait(on, list);
  EXPECT_EQ(*second, 2.0F);
}

TEST_F(mutable_launches, launches_with_arguments_and_with_parameters_are_mutable_too) {
  auto* numbers = shared_memory<float>(4);
  float *one = numbers, *sum = numbers + 1, *other = numbers + 2;
  uint32_t count = 1;
  *one = 1;
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  const auto list = mutable_list();
  void* arguments[] = {&one, &one, &sum, &count};
  const uint64_t with_arguments = next_id(list);
  ASSERT_EQ(zeCommandListAppendLaunchKernelWithArguments(list, kernel, {1, 1, 1}, {1, 1, 1},
                                                         arguments, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  const ze_group_count_t groups = {1, 1, 1};
  const uint64_t with_parameters = next_id(list);
  ASSERT_EQ(zeCommandListAppendLaunchKernelWithParameters(list, kernel, &groups, nullptr, nullptr,
                                                          0, nullptr),
            ZE_RESULT_SUCCESS);
  close_list(list);
  float* last = numbers + 3;
  ASSERT_EQ(change(with_arguments).argument(2, other).of(list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(change(with_parameters).argument(2, last).of(list), ZE_RESULT_SUCCESS);
  close_list(list);
  execute_and_wait(queue(), list);
  EXPECT_EQ(*sum, 0.0F);
  EXPECT_EQ(*other, 2.0F);
  EXPECT_EQ(*last, 2.0F);
}

TEST_F(mutable_launches, a_cooperative_launch_stays_within_its_limit) {
  auto* out = shared_memory<int>(64);
  const auto kernel = kernel_of(module_of(arguments_spv), "fixed_size");
  set_all(kernel, out);
  uint32_t most = 0;
  ASSERT_EQ(zeKernelSuggestMaxCooperativeGroupCount(kernel, &most), ZE_RESULT_SUCCESS);
  const auto list = mutable_list();
  const uint64_t id = next_id(list);
  const ze_group_count_t groups = {1, 1, 1};
  ASSERT_EQ(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  close_list(list);
  EXPECT_EQ(change(id).group_count(most + 1).of(list), invalid);
  EXPECT_EQ(change(id).group_count(UINT32_MAX, UINT32_MAX, UINT32_MAX).of(list), invalid);
  EXPECT_EQ(change(id).group_count(1).of(list), ZE_RESULT_SUCCESS);
}

TEST_F(mutable_launches, clones_run_with_what_the_original_had_and_change_alone) {
  auto* numbers = shared_memory<float>(3);
  float *one = numbers, *ours = numbers + 1, *theirs = numbers + 2;
  *one = 1;
  const auto kernel = kernel_of(module_of(vector_add_spv), "vector_add");
  set_all(kernel, one, one, ours, uint32_t{1});
  const auto list = mutable_list(ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE);
  const uint64_t id = next_id(list);
  launch(list, kernel, 1);
  close_list(list);
  ze_command_list_handle_t clone = nullptr;
  ASSERT_EQ(zeCommandListCreateCloneExp(list, &clone), ZE_RESULT_SUCCESS);
  at_end([=] { zeCommandListDestroy(clone); });
  ASSERT_EQ(change(id).argument(2, theirs).of(clone), ZE_RESULT_SUCCESS);
  close_list(clone);
  const auto on = queue();
  execute_and_wait(on, clone);
  EXPECT_EQ(*ours, 0.0F);
  EXPECT_EQ(*theirs, 2.0F);
  execute_and_wait(on, list);
  EXPECT_EQ(*ours, 2.0F);
}

}  // namespace
}  // namespace zevent::driver::test
