#include "driver/program.hpp"

#include <algorithm>
#include <array>

#include "driver/kernel_compiler.hpp"

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

program::program(spirv::module_signature signature, spirv::lowered_module lowered,
                 program_store store, std::string options)
    : signature_(std::move(signature)),
      lowered_(std::move(lowered)),
      compiler_options_(std::move(options)),
      store_(std::move(store)),
      images_(signature_.kernels.size()),
      functions_(lowered_.functions.size()) {}

result<std::shared_ptr<program>> program::build(const spirv::binary& module,
                                                const std::string& compiler_options) {
  auto signature = spirv::reflect(module);
  if (!signature) return tl::unexpected(signature.error());
  auto lowered = spirv::lower(module);
  if (!lowered) return tl::unexpected(lowered.error());
  const std::array<std::string_view, 3> inputs = {cache_version, compiler_options,
                                                  as_text(lowered->words)};
  auto store = program_store::open(inputs);
  if (!store) return tl::unexpected(store.error());
  std::shared_ptr<program> built(
      new program(std::move(*signature), std::move(*lowered), std::move(*store), compiler_options));

  if (built->images_.empty()) return built;
  std::vector<compiled_kernel> kernels;
  if (built->images_.size() <= few_kernels) {
    for (size_t i = 0; i < built->images_.size(); ++i) kernels.push_back(built->describe(i));
  }
  const std::lock_guard lock(built->mutex_);
  auto said = built->compile(kernels);
  if (!said) return tl::unexpected(said.error());
  built->log_ = std::move(*said);
  return built;
}

program::compiled_kernel program::describe(size_t kernel) const {
  const spirv::lowered_kernel& lowered = lowered_.kernels[kernel];
  std::string text;
  for (const spirv::kernel_argument& each : signature_.kernels[kernel].arguments) {
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
  const program_store::making making(store_);
  std::vector<std::string> missing, made;
  for (const compiled_kernel& each : kernels) {
    if (store_.find_image(each.name)) continue;
    missing.push_back(fmt::format("{}:{}", each.name, each.arguments));
    made.push_back(each.name);
  }
  if (store_.has("program") && missing.empty()) return store_.read("log");
  if (!store_.has("module.spv")) {
    const auto written = store_.write("module.spv", as_text(lowered_.words));
    if (!written) return tl::unexpected(written.error());
  }
  auto said = run_kernel_compiler(store_.folder(), compiler_options_, missing);
  if (!said) return said;
  bool complete = store_.has("program");
  for (const std::string& each : made) {
    complete = store_.keep_image(each).has_value() && complete;
  }
  if (!complete) {
    return fail("{}", said->empty() ? "the kernel compiler ended without a word\n" : *said);
  }
  static_cast<void>(store_.write("log", *said));
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

result<std::shared_ptr<const kernel_image>> program::image(size_t kernel) {
  const std::lock_guard lock(mutex_);
  if (images_[kernel] == nullptr) {
    auto loaded = load(describe(kernel));
    if (!loaded) return loaded;
    images_[kernel] = std::move(*loaded);
  }
  return images_[kernel];
}

result<void*> program::function_address(std::string_view name) {
  const auto found = std::find_if(lowered_.functions.begin(), lowered_.functions.end(),
                                  [&](const auto& each) { return each.function == name; });
  if (found == lowered_.functions.end()) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& image = functions_[static_cast<size_t>(found - lowered_.functions.begin())];
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
