#include "driver/kernel.hpp"

#include <algorithm>
#include <cstring>

#include "driver/device_image.hpp"
#include "driver/last_error.hpp"
#include "driver/quirks.hpp"
#include "driver/sampler.hpp"

namespace zevent::driver {
namespace {

constexpr uint32_t suggested_group_size = 256;
constexpr size_t widest_number_bytes = 8;

// The largest divisor of `number` that is at most `limit`.
uint32_t largest_divisor(uint32_t number, uint32_t limit) {
  uint32_t divisor = std::min(number, limit);
  while (number % divisor != 0) --divisor;
  return divisor;
}

// An image is passed as a pointer to its descriptor. Null: the one without a pixel.
void refer_to_image(argument_values& in, size_t index, device_image* given) {
  const image_descriptor& descriptor =
      given != nullptr ? given->descriptor() : device_image::none();
  const image_descriptor* pointer = &descriptor;
  in.set_value(index, &pointer, sizeof(void*));
  in.keep(index, ref<object>(given));
}

}  // namespace

kernel::kernel(module& owner, module::executable executable, size_t index,
               std::shared_ptr<kernel_code> code)
    : module_(&owner),
      executable_(std::move(executable)),
      index_(index),
      signature_(executable_.code->signature().kernels[index]),
      code_(std::move(code)),
      arguments_(unset_arguments()),
      shape_(unset_shape()) {}

argument_values kernel::unset_arguments() const {
  argument_values unset;
  for (const spirv::kernel_argument& each : signature_.arguments) {
    if (each.kind == spirv::argument_kind::local_pointer) {
      unset.add_local(0);
    } else {
      unset.add_value(each.size_bytes);
    }
    if (each.kind == spirv::argument_kind::image) refer_to_image(unset, unset.count() - 1, nullptr);
  }
  const spirv::lowered_kernel& lowered = executable_.code->lowered_kernel(index_);
  if (lowered.takes_work_item) unset.add_value(sizeof(void*));
  if (lowered.takes_variable_table) {
    unset.add_value(sizeof(void*));
    const uint64_t* table = executable_.variables->table();
    unset.set_value(unset.count() - 1, &table, sizeof(table));
  }
  if (lowered.local_block_bytes != 0) unset.add_local(lowered.local_block_bytes);
  return unset;
}

launch_shape kernel::unset_shape() const {
  launch_shape unset;
  const auto& required = signature_.required_group_size;
  if (required[0] != 0) std::copy(required.begin(), required.end(), unset.group_size.begin());
  return unset;
}

ze_result_t kernel::create(module& owner, const ze_kernel_desc_t& desc, kernel** out) {
  module::executable executable = owner.get_executable();
  if (executable.code == nullptr) return ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
  const auto& kernels = executable.code->signature().kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const auto& each) { return each.name == desc.pKernelName; });
  if (found == kernels.end()) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
  for (const spirv::kernel_argument& each : found->arguments) {
    if (each.kind != spirv::argument_kind::opaque) continue;
    set_last_error(fmt::format("kernel {} has an argument of a kind that the driver does not have",
                               found->name));
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  }
  const auto index = static_cast<size_t>(found - kernels.begin());
  if (found->required_subgroup_size > largest_sub_group_size &&
      executable.code->lowered_kernel(index).takes_work_item) {
    set_last_error(fmt::format("kernel {} requires sub-groups of more than {} work-items",
                               found->name, largest_sub_group_size));
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  }
  auto code = executable.code->kernel(index);
  if (!code) {
    set_last_error(code.error().message);
    return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
  }
  *out = new kernel(owner, std::move(executable), index, std::move(*code));
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel::check_group_size(uint32_t x, uint32_t y, uint32_t z) const {
  if (x == 0 || y == 0 || z == 0) return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  const uint64_t most = most_work_items();
  if (x > most || y > most || z > most || uint64_t{x} * y * z > most) {
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  }
  const auto& required = signature_.required_group_size;
  if (required[0] != 0 && (x != required[0] || y != required[1] || z != required[2])) {
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel::set_group_size(uint32_t x, uint32_t y, uint32_t z) {
  if (const ze_result_t bad = check_group_size(x, y, z); bad != ZE_RESULT_SUCCESS) return bad;
  const std::lock_guard lock(mutex_);
  shape_.group_size = {x, y, z};
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel::suggest_group_size(const uint32_t (&global)[3],
                                       uint32_t (&suggested)[3]) const {
  if (global[0] == 0 || global[1] == 0 || global[2] == 0) {
    return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
  }
  const auto& required = signature_.required_group_size;
  if (required[0] != 0) {
    std::copy(required.begin(), required.end(), std::begin(suggested));
    return ZE_RESULT_SUCCESS;
  }
  // As long in x as possible, for that is how kernels are vectorised; never a rest.
  uint32_t left = suggested_group_size;
  for (size_t axis = 0; axis < 3; ++axis) {
    suggested[axis] = largest_divisor(global[axis], left);
    left /= suggested[axis];
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel::set_argument(uint32_t index, size_t size_bytes, const void* value) {
  const std::lock_guard lock(mutex_);
  return put_argument(arguments_, index, size_bytes, value);
}

ze_result_t kernel::put_argument(argument_values& into, uint32_t index, size_t size_bytes,
                                 const void* value) const {
  if (index >= signature_.arguments.size()) {
    return has_quirk(quirk::kernel_argument_index_result)
               ? ZE_RESULT_ERROR_INVALID_ARGUMENT
               : ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
  }
  const spirv::kernel_argument& argument = signature_.arguments[index];
  switch (argument.kind) {
    case spirv::argument_kind::image:
    case spirv::argument_kind::sampler:
      return put_object(into, index, size_bytes, value);
    case spirv::argument_kind::local_pointer:
      // However much too large, a launch is refused; and the sum of all must not wrap around.
      into.set_local_size(index, std::min<size_t>(size_bytes, largest_local_memory_bytes + 1));
      return ZE_RESULT_SUCCESS;
    case spirv::argument_kind::pointer:
      if (value == nullptr) size_bytes = sizeof(void*);  // a null pointer, whatever its size
      if (size_bytes != sizeof(void*)) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
      break;
    default:
      if (value == nullptr) size_bytes = 0;
      if (value != nullptr && size_bytes == 0) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
      // A number may come narrower or wider than it is, as from a C program without the kernel's
      // declaration: upper bytes that are missing are zero, those that are too many are left out.
      if (size_bytes > argument.size_bytes) {
        if (size_bytes > widest_number_bytes) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        size_bytes = argument.size_bytes;
      }
      break;
  }
  into.set_value(index, value, size_bytes);
  return ZE_RESULT_SUCCESS;
}

// The value is a handle.
ze_result_t kernel::put_object(argument_values& into, uint32_t index, size_t size_bytes,
                               const void* value) const {
  if (value != nullptr && size_bytes != sizeof(void*)) {
    return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
  }
  const void* handle = nullptr;
  if (value != nullptr) std::memcpy(&handle, value, sizeof(handle));
  if (signature_.arguments[index].kind == spirv::argument_kind::image) {
    auto* given = try_from_handle<device_image>(handle);
    if (handle != nullptr && given == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    refer_to_image(into, index, given);
    return ZE_RESULT_SUCCESS;
  }
  const auto* given = try_from_handle<sampler>(handle);
  if (handle != nullptr && given == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const uint64_t bits = given != nullptr ? given->value() : 0;
  into.set_value(index, &bits, sizeof(bits));
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel::set_arguments(void** values) {
  if (values == nullptr && !signature_.arguments.empty()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < signature_.arguments.size(); ++i) {
    const spirv::kernel_argument& argument = signature_.arguments[i];
    size_t size_bytes = argument.size_bytes;
    const void* value = values[i];
    if (argument.kind == spirv::argument_kind::local_pointer) {
      size_bytes = 0;
      if (value != nullptr) std::memcpy(&size_bytes, value, sizeof(size_bytes));
      value = nullptr;
    }
    const ze_result_t status = put_argument(arguments_, i, size_bytes, value);
    if (status != ZE_RESULT_SUCCESS) return status;
  }
  return ZE_RESULT_SUCCESS;
}

void kernel::set_global_offset(uint32_t x, uint32_t y, uint32_t z) {
  const std::lock_guard lock(mutex_);
  shape_.global_offset = {x, y, z};
}

void kernel::set_indirect_access(ze_kernel_indirect_access_flags_t flags) {
  const std::lock_guard lock(mutex_);
  indirect_access_ = flags;
}

ze_kernel_indirect_access_flags_t kernel::indirect_access() const {
  const std::lock_guard lock(mutex_);
  return indirect_access_;
}

uint32_t kernel::sub_group_size() const {
  const uint32_t required = signature_.required_subgroup_size;
  return required != 0 ? required : default_sub_group_size;
}

void kernel::describe(ze_kernel_properties_t& out) const {
  out.numKernelArgs = static_cast<uint32_t>(signature_.arguments.size());
  out.requiredGroupSizeX = signature_.required_group_size[0];
  out.requiredGroupSizeY = signature_.required_group_size[1];
  out.requiredGroupSizeZ = signature_.required_group_size[2];
  out.requiredNumSubGroups = signature_.required_subgroup_count;
  out.requiredSubgroupSize = signature_.required_subgroup_size;
  out.maxSubgroupSize = sub_group_size();
  out.maxNumSubgroups = (most_work_items() + sub_group_size() - 1) / sub_group_size();
  out.localMemSize =
      static_cast<uint32_t>(executable_.code->lowered_kernel(index_).local_block_bytes);
  out.privateMemSize = 0;
  out.spillMemSize = code_->for_all().stack_frame_bytes();
  const void* const identities[] = {this, module_.get()};
  std::memset(&out.uuid, 0, sizeof(out.uuid));
  std::memcpy(out.uuid.kid, &identities[0], sizeof(void*));
  std::memcpy(out.uuid.mid, &identities[1], sizeof(void*));
}

kernel::launch kernel::assemble(argument_values arguments, launch_shape shape) const {
  launch made = {.code = code_,
                 .variables = executable_.variables,
                 .arguments = std::move(arguments),
                 .shape = shape,
                 .options = {.uses_printf = executable_.code->signature().uses_printf,
                             .flushes_denormals = module_->flags().flushes_denormals}};
  if (executable_.code->lowered_kernel(index_).takes_work_item) {
    made.options.sub_group_size = sub_group_size();
    made.options.item_argument = signature_.arguments.size();
  }
  return made;
}

ze_result_t kernel::snapshot(launch& out) const {
  const std::lock_guard lock(mutex_);
  out = assemble(arguments_, shape_);
  return out.check();
}

kernel::launch kernel::unset_launch() const {
  return assemble(unset_arguments(), unset_shape());
}

ze_result_t kernel::launch::check() const {
  if (arguments.local_bytes() > largest_local_memory_bytes) {
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  if (!options.is_cooperative) return ZE_RESULT_SUCCESS;
  const auto& [x, y, z] = shape.group_count;  // 32 bits each: two of them cannot overflow
  const uint64_t most = most_cooperative_groups();
  return x * y > most || x * y * z > most ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

}  // namespace zevent::driver
