#include "driver/program.hpp"

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
      images_(signature_.kernels.size()) {}

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
  std::vector<size_t> kernels;
  if (built->images_.size() <= few_kernels) {
    for (size_t i = 0; i < built->images_.size(); ++i) kernels.push_back(i);
  }
  const std::lock_guard lock(built->mutex_);
  auto said = built->compile(kernels);
  if (!said) return tl::unexpected(said.error());
  built->log_ = std::move(*said);
  return built;
}

std::string program::describe_for_compiler(size_t kernel) const {
  const spirv::lowered_kernel& lowered = lowered_.kernels[kernel];
  std::string text = lowered.entry_point + ":";
  for (const spirv::kernel_argument& each : signature_.kernels[kernel].arguments) {
    switch (each.kind) {
      case spirv::argument_kind::value:
        text += fmt::format("v{}", each.size_bytes);
        break;
      case spirv::argument_kind::pointer:
        text += 'p';
        break;
      case spirv::argument_kind::local_pointer:
        text += 'l';
        break;
      case spirv::argument_kind::image:
        text += 'i';
        break;
      case spirv::argument_kind::sampler:
        text += 's';
        break;
      case spirv::argument_kind::opaque:
        text += 'o';
        break;
    }
  }
  if (lowered.takes_variable_table) text += 'p';
  if (lowered.local_block_bytes != 0) text += 'l';
  return text;
}

// Makes what is missing of the program itself and of the given kernels, and returns what the
// compiler said. The caller holds mutex_.
result<std::string> program::compile(const std::vector<size_t>& kernels) {
  const program_store::making making(store_);
  std::vector<std::string> missing;
  std::vector<size_t> made;
  for (const size_t each : kernels) {
    if (store_.find_image(lowered_.kernels[each].entry_point)) continue;
    missing.push_back(describe_for_compiler(each));
    made.push_back(each);
  }
  if (store_.has("program") && missing.empty()) return store_.read("log");
  if (!store_.has("module.spv")) {
    const auto written = store_.write("module.spv", as_text(lowered_.words));
    if (!written) return tl::unexpected(written.error());
  }
  auto said = run_kernel_compiler(store_.folder(), compiler_options_, missing);
  if (!said) return said;
  bool complete = store_.has("program");
  for (const size_t each : made) {
    complete = store_.keep_image(lowered_.kernels[each].entry_point).has_value() && complete;
  }
  if (!complete) {
    return fail("{}", said->empty() ? "the kernel compiler ended without a word\n" : *said);
  }
  static_cast<void>(store_.write("log", *said));
  return said;
}

result<void> program::load(size_t kernel) {
  const std::string& name = lowered_.kernels[kernel].entry_point;
  auto file = store_.find_image(name);
  if (!file) {
    const auto said = compile({kernel});
    if (!said) return tl::unexpected(said.error());
    file = store_.find_image(name);
    if (!file) return fail("the machine code of {} is gone again", signature_.kernels[kernel].name);
  }
  auto loaded = kernel_image::load(*file, name);
  if (!loaded) return tl::unexpected(loaded.error());
  images_[kernel] = std::move(*loaded);
  return {};
}

result<std::shared_ptr<const kernel_image>> program::image(size_t kernel) {
  const std::lock_guard lock(mutex_);
  if (images_[kernel] == nullptr) {
    if (auto status = load(kernel); !status) return tl::unexpected(status.error());
  }
  return images_[kernel];
}

}  // namespace zevent::driver
