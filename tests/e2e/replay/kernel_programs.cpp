#include <sys/mman.h>

#include <cstdlib>

#include "kernels/arguments_spv.h"
#include "kernels/group_reduce_spv.h"
#include "kernels/variables_spv.h"
#include "kernels/vector_add_spv.h"
#include "small_program.hpp"

namespace small_programs {
namespace {

struct addition {
  machine m;
  ze_kernel_handle_t add = kernel(module(m, vector_add_spv), "vector_add", 32);
  float* a = reinterpret_cast<float*>(m.shared_memory());
  float* b = reinterpret_cast<float*>(m.shared_memory());
  float* sum = reinterpret_cast<float*>(m.shared_memory());
  ze_group_count_t groups = {2, 1, 1};

  addition() {
    for (int i = 0; i < 64; ++i) {
      a[i] = static_cast<float>(i) / 3;
      b[i] = static_cast<float>(i * i);
    }
    argument(add, 0, a);
    argument(add, 1, b);
    argument(add, 2, sum);
    argument(add, 3, 64u);
  }
};

void launch_kernel() {
  const addition it;
  const auto list = it.m.immediate();
  const auto done = event(it.m.pool());
  MUST(zeCommandListAppendLaunchKernel(list, it.add, &it.groups, done, 0, nullptr));
  wait(done);
  finish(list);
}

// Memory of the program's own, of all kinds: the device can use any.
void launch_on_plain_memory() {
  const addition it;
  static float of_the_program[64];
  auto* of_the_heap = static_cast<float*>(std::malloc(64 * sizeof(float)));
  auto* mapped = static_cast<float*>(
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 64; ++i) of_the_program[i] = static_cast<float>(i);
  for (int i = 0; i < 64; ++i) of_the_heap[i] = static_cast<float>(7 * i);
  argument(it.add, 0, static_cast<float*>(of_the_program));
  argument(it.add, 1, of_the_heap);
  argument(it.add, 2, mapped + 2048);
  const auto list = it.m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  for (int round = 0; round < 2; ++round) {
    MUST(zeCommandListAppendLaunchKernel(list, it.add, &it.groups, nullptr, 0, nullptr));
    MUST(zeCommandListAppendMemoryCopy(list, it.sum, mapped + 2048, 64 * sizeof(float), nullptr, 0,
                                       nullptr));
    finish(list);
    for (int i = 0; i < 64; ++i) of_the_heap[i] = mapped[2048 + i];
  }
  // What it wrote is used once more.
  const auto regular = it.m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  argument(it.add, 0, mapped + 2048);
  argument(it.add, 2, it.sum);
  MUST(zeCommandListAppendLaunchKernel(regular, it.add, &it.groups, nullptr, 0, nullptr));
  MUST(zeCommandListClose(regular));
  const auto queue = it.m.queue();
  execute(queue, regular);
  finish(queue);
  munmap(mapped, 4 * page);
  std::free(of_the_heap);
}

// Memory of the program's own whose addresses are in other memory: in a table that the device sees,
// in a table of the heap, in a structure.
void launch_on_linked_memory() {
  const machine m;
  const auto from = module(m, arguments_spv);
  const auto through_table = kernel(from, "through_pointer");
  auto* const table = reinterpret_cast<int**>(m.shared_memory());
  auto* const sums = reinterpret_cast<int*>(m.shared_memory());
  for (int i = 0; i < 4; ++i) {
    table[i] = static_cast<int*>(std::malloc(16 * sizeof(int)));
    for (int k = 0; k < 16; ++k) table[i][k] = 10 * i + k;
  }
  argument(through_table, 0, table);
  argument(through_table, 1, 4u);
  argument(through_table, 2, sums);
  const ze_group_count_t one = {1, 1, 1};
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  for (int round = 0; round < 2; ++round) {
    MUST(zeCommandListAppendLaunchKernel(list, through_table, &one, nullptr, 0, nullptr));
    finish(list);
    *table[1] = 100;  // the table stays as it is
  }

  auto* const copied = static_cast<int**>(std::malloc(4 * sizeof(int*)));
  for (int i = 0; i < 4; ++i) copied[i] = table[3 - i];
  argument(through_table, 0, copied);
  argument(through_table, 2, sums + 1);
  const auto regular = m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  MUST(zeCommandListAppendLaunchKernel(regular, through_table, &one, nullptr, 0, nullptr));
  MUST(zeCommandListClose(regular));
  const auto queue = m.queue();
  for (int round = 0; round < 2; ++round) {
    execute(queue, regular);
    finish(queue);
    *table[2] = 1000;
  }

  const auto in_structure = kernel(from, "pointers_by_value");
  struct {
    int* in;
    unsigned count;
    int* out;
  } const places = {table[3], 16, sums + 2};
  argument(in_structure, 0, places);
  MUST(zeCommandListAppendLaunchKernel(list, in_structure, &one, nullptr, 0, nullptr));
  finish(list);
  std::free(copied);
  for (int i = 0; i < 4; ++i) std::free(table[i]);
}

void launch_in_regular_list() {
  const addition it;
  const auto list = it.m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER);
  MUST(zeCommandListAppendLaunchKernel(list, it.add, &it.groups, nullptr, 0, nullptr));
  // Inside of an allocation, and other sums.
  argument(it.add, 2, it.sum + 64);
  MUST(zeCommandListAppendLaunchKernel(list, it.add, &it.groups, nullptr, 0, nullptr));
  MUST(zeCommandListClose(list));
  const auto queue = it.m.queue();
  execute(queue, list);
  finish(queue);
  for (int i = 0; i < 64; ++i) it.a[i] = 1;
  execute(queue, list);
  finish(queue);
}

void launch_indirect() {
  const addition it;
  auto* groups = reinterpret_cast<ze_group_count_t*>(it.m.host_memory());
  *groups = it.groups;
  const auto list = it.m.immediate();
  MUST(zeCommandListAppendLaunchKernelIndirect(list, it.add, groups, nullptr, 0, nullptr));
  finish(list);
}

void launch_cooperative() {
  const addition it;
  uint32_t most = 0;
  MUST(zeKernelSuggestMaxCooperativeGroupCount(it.add, &most));
  const auto list = it.m.immediate();
  const ze_group_count_t one = {1, 1, 1};
  MUST(zeCommandListAppendLaunchCooperativeKernel(list, it.add, &one, nullptr, 0, nullptr));
  finish(list);
}

void launch_with_arguments() {
  const addition it;
  const auto list = it.m.immediate();
  uint32_t count = 64;
  void *a = it.a, *b = it.b, *sum = it.sum + 128;
  void* arguments[] = {&a, &b, &sum, &count};
  MUST(zeCommandListAppendLaunchKernelWithArguments(list, it.add, it.groups, {32, 1, 1}, arguments,
                                                    nullptr, nullptr, 0, nullptr));
  finish(list);
}

// Everything that can change about a command changes, and so do the ways to change it.
void mutable_launch() {
  const addition it;
  const auto from = module(it.m, group_reduce_spv);
  const auto reduce = kernel(from, "sum_in_argument", 16);
  const ze_mutable_command_list_exp_desc_t is_mutable = {
      ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC, nullptr, 0};
  const auto list = it.m.list(ZE_COMMAND_LIST_FLAG_IN_ORDER, &is_mutable);
  ze_mutable_command_id_exp_desc_t desc = {ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC, nullptr,
                                           0};
  uint64_t adds = 0, becomes_another = 0;
  MUST(zeCommandListGetNextCommandIdExp(list, &desc, &adds));
  const auto pool = it.m.pool();
  auto started = event(pool, 0), done = event(pool, 1);
  MUST(zeCommandListAppendLaunchKernel(list, it.add, &it.groups, done, 1, &started));
  desc.flags = ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS |
               ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_COUNT | ZE_MUTABLE_COMMAND_EXP_FLAG_GROUP_SIZE |
               ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_INSTRUCTION;
  ze_kernel_handle_t kernels[] = {it.add, reduce};
  MUST(zeCommandListGetNextCommandIdWithKernelsExp(list, &desc, 2, kernels, &becomes_another));
  MUST(zeCommandListAppendLaunchKernel(list, it.add, &it.groups, nullptr, 0, nullptr));
  MUST(zeCommandListClose(list));
  MUST(zeEventHostSignal(started));
  const auto queue = it.m.queue();
  execute(queue, list);
  finish(queue);
  wait(done);

  auto* numbers = reinterpret_cast<int*>(it.m.shared_memory());
  int* total = numbers + 64;
  for (int i = 0; i < 64; ++i) numbers[i] = i;
  MUST(zeCommandListUpdateMutableCommandKernelsExp(list, 1, &becomes_another, &kernels[1]));
  const ze_group_count_t one = {1, 1, 1};
  const ze_mutable_group_count_exp_desc_t count = {ZE_STRUCTURE_TYPE_MUTABLE_GROUP_COUNT_EXP_DESC,
                                                   nullptr, becomes_another, &one};
  const ze_mutable_group_size_exp_desc_t size = {
      ZE_STRUCTURE_TYPE_MUTABLE_GROUP_SIZE_EXP_DESC, &count, becomes_another, 64, 1, 1};
  const auto update = [&](uint64_t id, uint32_t index, size_t bytes, const void* value,
                          const void* next) {
    return ze_mutable_kernel_argument_exp_desc_t{
        ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC, next, id, index, bytes, value};
  };
  // Inside of an allocation; local memory; a number.
  const float* other_sum = it.sum + 64;
  const uint32_t few = 32;
  const auto in = update(becomes_another, 0, sizeof numbers, &numbers, &size);
  const auto out = update(becomes_another, 1, sizeof total, &total, &in);
  const auto local = update(becomes_another, 2, 64 * sizeof(int), nullptr, &out);
  const auto sum = update(adds, 2, sizeof other_sum, &other_sum, &local);
  const auto how_many = update(adds, 3, sizeof few, &few, &sum);
  const ze_mutable_global_offset_exp_desc_t offset = {
      ZE_STRUCTURE_TYPE_MUTABLE_GLOBAL_OFFSET_EXP_DESC, &how_many, adds, 8, 0, 0};
  const ze_mutable_commands_exp_desc_t changes = {ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC,
                                                  &offset, 0};
  MUST(zeCommandListUpdateMutableCommandsExp(list, &changes));
  const auto also_done = event(pool, 2);
  MUST(zeCommandListUpdateMutableCommandSignalEventExp(list, adds, also_done));
  ze_event_handle_t nothing = nullptr;
  MUST(zeCommandListUpdateMutableCommandWaitEventsExp(list, adds, 1, &nothing));
  REFUSED(zeCommandListUpdateMutableCommandWaitEventsExp(list, adds, 2, nullptr));
  MUST(zeCommandListClose(list));
  execute(queue, list);
  finish(queue);
  wait(also_done);
  if (*total != 64 * 63 / 2 || it.sum[64 + 31] != it.a[31] + it.b[31]) exit_once(4);
}

void arguments_by_value() {
  const machine m;
  const auto from = module(m, arguments_spv);
  const auto by_value = kernel(from, "by_value");
  double* out = reinterpret_cast<double*>(m.shared_memory());
  argument(by_value, 0, out);
  argument<int8_t>(by_value, 1, -1);
  argument<uint8_t>(by_value, 2, 2);
  argument<int16_t>(by_value, 3, -3);
  argument<uint16_t>(by_value, 4, 4);
  argument<int32_t>(by_value, 5, -5);
  argument<uint32_t>(by_value, 6, 6);
  argument<int64_t>(by_value, 7, -7);
  argument<uint64_t>(by_value, 8, 8);
  argument(by_value, 9, 9.5f);
  argument(by_value, 10, 10.25);
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const ze_group_count_t one = {1, 1, 1};
  MUST(zeCommandListAppendLaunchKernel(list, by_value, &one, nullptr, 0, nullptr));
  const struct {
    char tag = 't';
    double weight = 2.5;
    int counts[3] = {1, 2, 3};
    short last = 4;
  } item;
  const auto structure = kernel(from, "structure");
  argument(structure, 0, out + 16);
  argument(structure, 1, item);
  argument(structure, 2, 77);
  MUST(zeCommandListAppendLaunchKernel(list, structure, &one, nullptr, 0, nullptr));
  finish(list);
}

// A table of pointers, in memory that the kernel reads.
void pointers_in_memory() {
  const machine m;
  int* numbers = reinterpret_cast<int*>(m.shared_memory());
  int** table = reinterpret_cast<int**>(m.shared_memory());
  for (int i = 0; i < 8; ++i) {
    numbers[i] = 1 << i;
    table[i] = numbers + 7 - i;
  }
  const auto through = kernel(module(m, arguments_spv), "through_pointer");
  argument(through, 0, table);
  argument(through, 1, 8u);
  argument(through, 2, numbers + 100);
  MUST(zeKernelSetIndirectAccess(through, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const ze_group_count_t one = {1, 1, 1};
  MUST(zeCommandListAppendLaunchKernel(list, through, &one, nullptr, 0, nullptr));
  finish(list);
}

// Pointers to device memory, which the host cannot touch: as arguments, inside of an allocation,
// inside of a structure, and in a table that is copied to the device.
void device_pointers() {
  const machine m;
  int* numbers = reinterpret_cast<int*>(m.device_memory());
  int* sums = reinterpret_cast<int*>(m.device_memory());
  int** table = reinterpret_cast<int**>(m.device_memory());
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  int values[8];
  int* addresses[8];
  for (int i = 0; i < 8; ++i) {
    values[i] = 1 << i;
    addresses[i] = numbers + 7 - i;
  }
  copy(list, numbers, values, sizeof(values));
  copy(list, table, addresses, sizeof(addresses));
  const auto from = module(m, arguments_spv);
  const auto through = kernel(from, "through_pointer");
  argument(through, 0, table);
  argument(through, 1, 8u);
  argument(through, 2, sums + 1);
  MUST(zeKernelSetIndirectAccess(through, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE));
  const ze_group_count_t one = {1, 1, 1};
  MUST(zeCommandListAppendLaunchKernel(list, through, &one, nullptr, 0, nullptr));
  const struct {
    uint64_t in, count, out;
  } places = {reinterpret_cast<uint64_t>(numbers + 4), 4, reinterpret_cast<uint64_t>(sums)};
  const auto by_value = kernel(from, "pointers_by_value");
  argument(by_value, 0, places);
  MUST(zeKernelSetIndirectAccess(by_value, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE));
  MUST(zeCommandListAppendLaunchKernel(list, by_value, &one, nullptr, 0, nullptr));
  int* found = reinterpret_cast<int*>(m.host_memory());
  copy(list, found, sums, 2 * sizeof(int));
  finish(list);
  if (found[0] != 0xf0 || found[1] != 0xff) exit_once(4);
  for (void* each : {static_cast<void*>(numbers), static_cast<void*>(sums),
                     static_cast<void*>(table), static_cast<void*>(found)})
    MUST(zeMemFree(m.context, each));
}

void local_memory() {
  const machine m;
  const auto sum = kernel(module(m, group_reduce_spv), "sum_in_argument", 64);
  int* in = reinterpret_cast<int*>(m.shared_memory());
  int* out = reinterpret_cast<int*>(m.shared_memory());
  for (int i = 0; i < 128; ++i) in[i] = i;
  argument(sum, 0, in);
  argument(sum, 1, out);
  MUST(zeKernelSetArgumentValue(sum, 2, 64 * sizeof(int), nullptr));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  const ze_group_count_t two = {2, 1, 1};
  MUST(zeCommandListAppendLaunchKernel(list, sum, &two, nullptr, 0, nullptr));
  finish(list);
}

void module_questions() {
  const machine m;
  ze_module_build_log_handle_t log = nullptr;
  const auto made = module(m, vector_add_spv, &log);
  size_t bytes = 0;
  MUST(zeModuleBuildLogGetString(log, &bytes, nullptr));
  std::vector<char> text(bytes + 1);
  MUST(zeModuleBuildLogGetString(log, &bytes, text.data()));
  MUST(zeModuleBuildLogDestroy(log));
  uint32_t count = 0;
  MUST(zeModuleGetKernelNames(made, &count, nullptr));
  std::vector<const char*> names(count);
  MUST(zeModuleGetKernelNames(made, &count, names.data()));
  const auto add = kernel(made, "vector_add");
  ze_kernel_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
  MUST(zeKernelGetProperties(add, &properties));
  uint32_t x = 0, y = 0, z = 0;
  MUST(zeKernelSuggestGroupSize(add, 1000, 1, 1, &x, &y, &z));
  MUST(zeKernelDestroy(add));
  MUST(zeModuleDestroy(made));
}

void module_variables() {
  const machine m;
  const auto made = module(m, variables_spv);
  size_t bytes = 0;
  void* variable = nullptr;
  MUST(zeModuleGetGlobalPointer(made, "counter", &bytes, &variable));
  const auto list = m.immediate(ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  fill(list, variable, 3, 4);
  copy(list, m.host_memory(), variable, 4);
  finish(list);
}

void module_that_does_not_build() {
  const machine m;
  const uint32_t nonsense[20] = {0x07230203, 0x00010000, 0, 1000, 0, 0xffffffff};
  ze_module_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
  desc.inputSize = sizeof(nonsense);
  desc.pInputModule = reinterpret_cast<const uint8_t*>(nonsense);
  ze_module_handle_t made = nullptr;
  ze_module_build_log_handle_t log = nullptr;
  REFUSED(zeModuleCreate(m.context, m.device, &desc, &made, &log));
  size_t bytes = 0;
  MUST(zeModuleBuildLogGetString(log, &bytes, nullptr));
  std::vector<char> text(bytes + 1);
  MUST(zeModuleBuildLogGetString(log, &bytes, text.data()));
  MUST(zeModuleBuildLogDestroy(log));
}

constexpr program programs[] = {
    {"launch_kernel", launch_kernel},
    {"launch_on_plain_memory", launch_on_plain_memory},
    {"launch_on_linked_memory", launch_on_linked_memory},
    {"launch_in_regular_list", launch_in_regular_list},
    {"launch_indirect", launch_indirect},
    {"launch_cooperative", launch_cooperative},
    {"launch_with_arguments", launch_with_arguments},
    {"mutable_launch", mutable_launch},
    {"arguments_by_value", arguments_by_value},
    {"pointers_in_memory", pointers_in_memory},
    {"device_pointers", device_pointers},
    {"local_memory", local_memory},
    {"module_questions", module_questions},
    {"module_variables", module_variables},
    {"module_that_does_not_build", module_that_does_not_build},
};

}  // namespace

std::span<const program> kernel_programs() {
  return programs;
}

}  // namespace small_programs
