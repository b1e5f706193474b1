#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "trace/call.hpp"
#include "trace/chunk_file.hpp"

// A chunk of calls.
//
// Calls of one function mostly have arguments of one size, and the same byte of them mostly holds
// the same or a similar value. So calls are sorted into shapes (function, input bytes, output
// bytes); the arguments of each shape are a table with one row a call, and the tables are stored
// column after column:
//
//   stream    holds
//   head      start of the first call, u64 ns since the first call of the run
//   shapes    per shape: function, input bytes, output bytes, each a varint
//   arguments per shape: byte 0 of every row, byte 1 of every row, …
//
//   column    of every call, in order of number
//   start     ns since the start of the call before it
//   duration  ns
//   shape     index into the shapes
//   thread    index into the run's threads
//   result    bits of the ze_result_t
//   flags     of call_flag
namespace zevent::trace {

struct call_arguments {
  std::span<const std::byte> inputs;
  std::span<const std::byte> outputs;
};

// Gathers calls and writes them as one chunk.
class call_block_writer {
 public:
  // Calls are added in order of their start. Their number is their position.
  void add(const call& each, call_arguments arguments);

  bool empty() const { return starts_.empty(); }
  // True when the block is better written before another call is added.
  bool full() const;

  result<void> write(chunk_writer& file);

 private:
  struct shape {
    uint32_t function = 0;
    uint64_t input_bytes = 0;
    uint64_t output_bytes = 0;
    std::vector<std::byte> rows;
  };

  uint64_t next_number_ = 0;
  uint64_t argument_bytes_ = 0;
  std::vector<uint64_t> starts_, durations_, shapes_, threads_, results_, flags_;
  std::map<std::tuple<uint32_t, uint64_t, uint64_t>, uint32_t> shape_of_;
  std::vector<shape> shape_table_;
};

// The same chunk, read. Everything in it was checked against the limits given to decode().
class call_block {
 public:
  struct limits {
    uint64_t functions = 0;
    uint64_t threads = 0;
  };

  static result<call_block> decode(chunk source, const chunk_entry& entry, limits most);

  size_t size() const { return starts_.size(); }
  call_number first() const { return first_; }

  call operator[](size_t i) const {
    return {call_number{number_of(first_) + i},
            starts_[i],
            durations_[i],
            function_of_shape_[shapes_[i]],
            threads_[i],
            results_[i],
            flags_[i]};
  }

  // The columns, for whoever reads millions of them.
  std::span<const uint64_t> starts_ns() const { return starts_; }
  std::span<const uint64_t> durations_ns() const { return durations_; }

  // Unpacks the arguments of all calls of the block; arguments() may be asked afterwards.
  result<void> load_arguments();
  bool has_arguments() const { return arguments_loaded_; }
  call_arguments arguments(size_t i) const;

 private:
  struct shape {
    uint64_t input_bytes = 0;
    uint64_t output_bytes = 0;
    uint64_t first_row_offset = 0;  // in argument_bytes_
  };

  call_block() = default;
  result<void> decode_columns();
  bool durations_fit() const;
  result<void> decode_shapes(uint64_t functions);

  chunk source_;
  call_number first_{};
  std::vector<uint64_t> starts_, durations_;
  std::vector<uint32_t> shapes_, threads_, results_;
  std::vector<uint8_t> flags_;
  std::vector<uint32_t> function_of_shape_;
  std::vector<shape> shape_table_;

  bool arguments_loaded_ = false;
  std::vector<std::byte> argument_bytes_;
  std::vector<uint32_t> rows_;  // of each call, its row in the table of its shape
};

}  // namespace zevent::trace
