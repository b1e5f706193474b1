#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "api/call_codec.hpp"
#include "api/model.hpp"
#include "base/byte_writer.hpp"

namespace zevent::api {

// What an encoder asks its owner. Each may be left as it is.
class capture_policy {
 public:
  virtual ~capture_policy() = default;

  // Keeps the bytes elsewhere and gives their hash of blob_hash_bytes, or nothing: then they are
  // written where they are.
  virtual std::span<const std::byte> keep_blob(std::span<const std::byte>) { return {}; }

  // The pieces of memory behind a pointer whose sizes the call does not know
  // (extent_kind::external; `index` is the position in an array of such pointers). False: not
  // captured.
  virtual bool external_runs(const variable&, const void* address, size_t index,
                             std::vector<std::span<const std::byte>>& runs) {
    static_cast<void>(address), static_cast<void>(index), static_cast<void>(runs);
    return false;
  }
};

// Walks the live arguments of a call by the model and writes the bytes of call_codec.hpp. One
// encoder is for one call at a time: inputs() before the driver is entered, outputs() after it
// returned. The arguments are given by their addresses, in the order of the function:
//
//   const void* arguments[] = {&hEvent, &timeout};
class call_encoder {
 public:
  explicit call_encoder(const model& m, capture_policy* policy = nullptr)
      : model_(m), policy_(policy) {}

  void inputs(const function& f, std::span<const void* const> arguments, byte_writer& out);
  // `returned` is what a function returned that returns no ze_result_t, else null.
  void outputs(const function& f, std::span<const void* const> arguments, const void* returned,
               byte_writer& out);
  // All fields of a live record.
  void record_at(const record& r, const void* address, byte_writer& out);

 private:
  // The variables among which lengths are looked up, and where their values are.
  struct scope {
    std::span<const variable> variables;
    std::span<const void* const> arguments;  // of a call
    const std::byte* base = nullptr;         // of a record

    const std::byte* address_of(size_t index) const;
  };

  void write_variable(const variable& v, const std::byte* at, record_part part, const scope& s);
  void write_element(const type& t, const std::byte* at, record_part part, const extent& inner,
                     const variable& v, const scope& s, size_t index);
  void write_record(const record& r, const std::byte* base, record_part part);
  void write_content(const extent& e, const extent& inner, const type& pointee, const variable& v,
                     const void* address, record_part part, const scope& s, size_t index);
  void write_elements(const extent& e, const extent& inner, const type& pointee, const variable& v,
                      const std::byte* address, record_part part, const scope& s, size_t index);
  void write_bytes(std::span<const std::byte> bytes);
  void write_string(const char* text);
  void write_chain(const std::byte* address, record_part part);
  void write_external(const variable& v, const void* address, size_t index);

  uint64_t length_of(const extent& e, const scope& s, size_t index) const;
  // The length of a buffer that the driver fills, before and after: the shorter is what is valid.
  uint64_t valid_length(const void* buffer, uint64_t length);
  void form(content_form f) { out_->number(static_cast<uint8_t>(f)); }

  const model& model_;
  capture_policy* policy_;
  byte_writer* out_ = nullptr;
  scope call_;
  bool after_call_ = false;
  uint32_t chain_length_ = 0;
  api_name chain_api_ = api_name::ze;
  std::vector<std::pair<const void*, uint64_t>> capacities_;  // of buffers, before the call
};

}  // namespace zevent::api
