#pragma once

#include <map>
#include <span>
#include <vector>

#include "replay/program.hpp"
#include "replay/value_access.hpp"

namespace zevent::replay {

// Contents that calls refer to by hash, read once.
class blob_cache {
 public:
  blob_cache(const trace::trace_file& trace, arena& memory) : trace_(trace), memory_(memory) {}
  // Shared by everybody: not to be written to.
  result<std::span<std::byte>> get(const trace::blob_hash& hash);

 private:
  const trace::trace_file& trace_;
  arena& memory_;
  std::map<trace::blob_hash, std::span<std::byte>, trace::blob_hash_order> known_;
};

// Builds the image of one call's arguments from what was recorded of it.
class argument_image {
 public:
  argument_image(const api::model& model, const address_book& book, blob_cache& blobs, program& out)
      : model_(model), book_(book), blobs_(blobs), out_(out) {}

  // Fills in the slots, patches and captures of the call.
  result<void> build(const recorded_call& call, compiled_call& compiled, call_extras& extras);

  // Writes the addresses of plain memory into the content, which is a copy of what was recorded.
  // The others are patches: where memory of the device is, a replay knows only when it runs.
  std::vector<pointer_patch> place_pointers(std::span<std::byte> content,
                                            std::span<const embedded_pointer> pointers) const;

  // Where the replay keeps plain host memory; null when no call was seen to touch it.
  std::byte* host_address(uint64_t address) const;

 private:
  // A variable, or what is behind it: its type, what it points at, its values on both sides.
  struct item {
    const api::type& type;
    api::extent pointee, inner;
    const api::variable& variable;
    const api::value* in = nullptr;
    const api::value* out = nullptr;
    size_t position = 0;
  };

  void put_variable(const api::variable& v, const api::value* in, const api::value* out,
                    std::byte* at, const value_scope& s);
  void put(const item& it, std::byte* at, const value_scope& s);
  void put_record(const api::record& r, const api::value* in, const api::value* out, std::byte* at);
  void put_opaque(const api::value* in, const api::value* out, std::byte* at);
  void put_handle(uint16_t handle_class, uint64_t in, uint64_t out, std::byte* at);
  void put_scalars(const item& it, uint64_t count, std::byte* at);
  void put_pointer(const item& it, std::byte* at, const value_scope& s);
  void put_address(const item& it, uint64_t in, uint64_t out, std::byte* at);
  std::byte* content(const item& it, const value_scope& s);
  std::byte* elements(const item& it, const api::type& pointee, const value_scope& s);
  std::byte* bytes(const item& it, const value_scope& s);
  std::byte* runs(const item& it, const api::type& pointee);
  void patch_argument(std::span<std::byte> content);
  std::byte* copy(std::span<const std::byte> content, uint64_t room);
  std::byte* output_room(uint64_t bytes, bool has_handles);
  void patch(std::byte* at, slot_place place);
  void add_capture(std::byte* at, slot_id slot);
  void fail_with(std::string message);

  const api::model& model_;
  const address_book& book_;
  blob_cache& blobs_;
  program& out_;

  const recorded_call* call_ = nullptr;
  call_extras* extras_ = nullptr;
  value_scope parameters_;
  std::string problem_;
};

}  // namespace zevent::replay
