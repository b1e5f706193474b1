#include "driver/program.hpp"

#include <algorithm>
#include <array>

#include "base/log.hpp"

namespace zevent::driver {
namespace {

// Goes into every name in the cache; to be changed when machine code made before must not be used
// any more.
constexpr std::string_view cache_version = "1";

// A program with no more kernels than this is compiled whole when it is built.
constexpr size_t few_kernels = 4;

std::string_view as_text(const std::vector<uint32_t>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)};
}

}  // namespace

program::program(std::shared_ptr<const prepared_module> source, program_store store,
                 kernel_compiler compiler)
    : source_(std::move(source)),
      store_(std::move(store)),
      compiler_(std::move(compiler)),
      kernels_(source_->signature.kernels.size()),
      functions_(source_->lowered.functions.size()) {}

result<std::shared_ptr<program>> program::build(std::shared_ptr<const prepared_module> source,
                                                const std::string& compiler_options) {
  const std::array<std::string_view, 3> inputs = {cache_version, compiler_options,
                                                  as_text(source->lowered.words)};
  auto store = program_store::open(inputs);
  if (!store) return tl::unexpected(store.error());
  std::shared_ptr<program> built(
      new program(std::move(source), std::move(*store), kernel_compiler(compiler_options)));

  if (built->kernels_.empty()) return built;
  std::vector<compiled_kernel> kernels;
  if (built->kernels_.size() <= few_kernels) {
    for (size_t i = 0; i < built->kernels_.size(); ++i) kernels.push_back(built->describe(i));
  }
  const std::lock_guard lock(built->mutex_);
  auto said = built->compile(kernels);
  if (!said) return tl::unexpected(said.error());
  built->log_ = std::move(*said);
  return built;
}

program::compiled_kernel program::describe(size_t kernel) const {
  const spirv::lowered_kernel& lowered = source_->lowered.kernels[kernel];
  std::string text;
  for (const spirv::kernel_argument& each : source_->signature.kernels[kernel].arguments) {
    switch (each.kind) {
      case spirv::argument_kind::value:
      case spirv::argument_kind::sampler:  // see lower_images
        text += fmt::format("v{}", each.size_bytes);
        break;
      case spirv::argument_kind::pointer:
      case spirv::argument_kind::image:  // see lower_images
        text += 'p';
        break;
      case spirv::argument_kind::local_pointer:
        text += 'l';
        break;
      case spirv::argument_kind::opaque:
        text += 'o';
        break;
    }
  }
  if (lowered.takes_work_item) text += 'p';
  if (lowered.takes_variable_table) text += 'p';
  if (lowered.local_block_bytes != 0) text += 'l';
  return {lowered.entry_point, std::move(text)};
}

// Makes what is missing of the program itself and of the given kernels, and returns what the
// compiler said. The caller holds mutex_.
result<std::string> program::compile(const std::vector<compiled_kernel>& kernels) {
  std::vector<std::string> missing, made;
  const auto is_complete = [&] {
    missing.clear();
    made.clear();
    for (const compiled_kernel& each : kernels) {
      if (store_.find_image(each.name)) continue;
      missing.push_back(fmt::format("{}:{}", each.name, each.arguments));
      made.push_back(each.name);
    }
    return store_.has("program") && missing.empty();
  };
  // Who finds everything there does not wait for others who make what is not asked for here.
  if (is_complete()) return store_.read("log");
  const program_store::making making(store_);
  if (is_complete()) return store_.read("log");
  if (!store_.has("module.spv")) {
    const auto written = store_.write("module.spv", as_text(source_->lowered.words));
    if (!written) return tl::unexpected(written.error());
  }
  log_trace("driver", "compiling {} in {}", fmt::join(missing, " "), store_.folder().string());
  auto said = compiler_.run(store_.folder(), missing);
  if (!said) return said;
  bool complete = store_.has("program");
  // First, so that who finds the kernels finds it, too.
  if (complete) static_cast<void>(store_.write("log", *said));
  for (const std::string& each : made) {
    complete = store_.keep_image(each).has_value() && complete;
  }
  if (!complete) {
    return fail("{}", said->empty() ? "the kernel compiler ended without a word\n" : *said);
  }
  return said;
}

// The caller holds mutex_.
result<std::shared_ptr<const kernel_image>> program::load(const compiled_kernel& kernel) {
  auto file = store_.find_image(kernel.name);
  if (!file) {
    const auto said = compile({kernel});
    if (!said) return tl::unexpected(said.error());
    file = store_.find_image(kernel.name);
    if (!file) return fail("the machine code of {} is gone again", kernel.name);
  }
  return kernel_image::load(*file, kernel.name);
}

result<std::shared_ptr<kernel_code>> program::kernel(size_t index) {
  const std::lock_guard lock(mutex_);
  if (kernels_[index] == nullptr) {
    compiled_kernel described = describe(index);
    auto loaded = load(described);
    if (!loaded) return tl::unexpected(loaded.error());
    // A kernel that nothing but a launch in flight knows any more is not worth the trouble.
    kernels_[index] = std::make_shared<kernel_code>(
        std::move(*loaded),
        [owner = weak_from_this(), described = std::move(described)](
            const std::array<uint64_t, 3>& size) -> std::shared_ptr<const kernel_image> {
          const auto self = owner.lock();
          return self != nullptr ? self->specialise(described, size) : nullptr;
        });
  }
  return kernels_[index];
}

std::shared_ptr<const kernel_image> program::specialise(
    const compiled_kernel& kernel, const std::array<uint64_t, 3>& group_size) const {
  const std::string name =
      fmt::format("{}@{}x{}x{}", kernel.name, group_size[0], group_size[1], group_size[2]);
  auto file = store_.find_image(name);
  if (!file) {
    const program_store::making making(store_);
    file = store_.find_image(name);
    // A compiler goes on when the program that has started it ends.
    if (!file) file = store_.keep_image(name);
    if (!file &&
        compiler_.run_apart(store_.folder(), fmt::format("{}:{}", name, kernel.arguments))) {
      file = store_.keep_image(name);
    }
  }
  if (!file) return nullptr;
  auto loaded = kernel_image::load(*file, kernel.name);
  return loaded ? std::move(*loaded) : nullptr;
}

result<void*> program::function_address(std::string_view name) {
  const auto found =
      std::find_if(source_->lowered.functions.begin(), source_->lowered.functions.end(),
                   [&](const auto& each) { return each.function == name; });
  if (found == source_->lowered.functions.end()) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& image = functions_[static_cast<size_t>(found - source_->lowered.functions.begin())];
  if (image == nullptr) {
    auto loaded = load({found->entry_point, "p"});
    if (!loaded) return tl::unexpected(loaded.error());
    image = std::move(*loaded);
  }
  void* address = nullptr;
  void** place = &address;
  void* arguments[] = {&place};
  const launch_context context{{1, 1, 1}, {0, 0, 0}, {1, 1, 1}};
  image->run_group()(arguments, &context, 0, 0, 0);
  return address;
}

}  // namespace zevent::driver
