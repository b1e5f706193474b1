#include "model/trace_calls.hpp"

#include <cstring>

namespace zevent::model {

trace_calls::trace_calls(const trace::trace_file& trace)
    : trace_(trace),
      plan_(trace.model(), [this](std::span<const std::byte> hash) { return read_blob(hash); }) {
  block_ = read_next_block();
  following_ = read_next_block();
}

std::optional<trace::call_block> trace_calls::read_next_block() {
  while (next_block_ < trace_.blocks()) {
    auto block = trace_.read_block(next_block_++);
    if (block && block->size() > 0 && block->load_arguments()) return std::move(*block);
    ++missing_blocks_;
  }
  return std::nullopt;
}

std::span<const std::byte> trace_calls::read_blob(std::span<const std::byte> hash) {
  trace::blob_hash wanted{};
  if (hash.size() != sizeof(wanted)) return {};
  std::memcpy(&wanted, hash.data(), sizeof(wanted));
  auto content = trace_.read_blob(wanted);
  if (!content) return {};
  blob_ = std::move(*content);
  return blob_;
}

const call_view* trace_calls::next() {
  while (true) {
    if (block_ && position_ == block_->size()) {
      block_ = std::move(following_);
      following_ = read_next_block();
      position_ = 0;
    }
    if (!block_) return nullptr;
    const trace::call call = (*block_)[position_];
    const auto arguments = block_->arguments(position_);
    ++position_;
    if (call.injected()) continue;
    if (!plan_.read(call.function, arguments.inputs, arguments.outputs, view_)) ++unreadable_;
    view_.number = call.number;
    view_.process = trace_.process_of(call);
    view_.thread = call.thread;
    view_.start_ns = call.start_ns;
    view_.end_ns = call.returned() ? call.end_ns() : UINT64_MAX;
    view_.result = call.result;
    view_.did_return = call.returned();
    return &view_;
  }
}

uint64_t trace_calls::next_start_ns() const {
  if (block_ && position_ < block_->size()) return block_->starts_ns()[position_];
  return following_ ? following_->starts_ns().front() : UINT64_MAX;
}

}  // namespace zevent::model
