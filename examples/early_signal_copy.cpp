// Why it matters which operation of a copy signals. Copies 4 planes of 4 rows, row by row, waits
// for the event and looks at once whether everything is there. Exits with 1 when it is not.
//
//   early_signal_copy all-but-first   in-order list; every row but the first signals
//   early_signal_copy last            list that is not in-order; the last row signals
//   early_signal_copy library         the same list; zevent places the signal
//
// On a quiet machine the wrong ones often get away with it.
#include <zevent/append_strided_copy.hpp>
#include <zevent/event_pool.hpp>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "example_device.hpp"

namespace {

constexpr uint64_t planes = 4;
constexpr uint64_t rows = 4;
constexpr int64_t row_bytes = 64 << 10;
constexpr int64_t row_pitch = 3 * row_bytes / 2;

// Rows in reverse order in the source, so that no region can take several of them.
struct copy_job {
  std::vector<char> source = std::vector<char>(planes * rows * row_pitch, 'x');
  std::vector<char> destination = std::vector<char>(planes * rows * row_bytes);

  const char* source_row(uint64_t i) const {
    return source.data() + (planes * rows - 1 - i) * row_pitch;
  }
  char* destination_row(uint64_t i) { return destination.data() + i * row_bytes; }
  // Time passes while one looks at every byte: the ends of the rows come first.
  bool is_complete() const {
    const auto is_there = [](char c) { return c == 'x'; };
    for (size_t end = row_bytes; end <= destination.size(); end += row_bytes)
      if (!is_there(destination[end - 1])) return false;
    return std::all_of(destination.begin(), destination.end(), is_there);
  }
};

// Signals as soon as the second row is copied, and again after each further one.
void append_all_but_first(ze_command_list_handle_t list, copy_job& job, ze_event_handle_t done) {
  for (uint64_t i = 0; i < planes * rows; ++i) {
    CHECK(zeCommandListAppendMemoryCopy(list, job.destination_row(i), job.source_row(i), row_bytes,
                                        i == 0 ? nullptr : done, 0, nullptr));
  }
}

// Signals when the last row is copied, which says nothing about the others on this list.
void append_last(ze_command_list_handle_t list, copy_job& job, ze_event_handle_t done) {
  for (uint64_t i = 0; i < planes * rows; ++i) {
    const bool is_last = i + 1 == planes * rows;
    CHECK(zeCommandListAppendMemoryCopy(list, job.destination_row(i), job.source_row(i), row_bytes,
                                        is_last ? done : nullptr, 0, nullptr));
  }
}

void append_by_library(ze_command_list_handle_t list, copy_job& job, const zevent::event& done) {
  const uint64_t extents[] = {planes, rows, row_bytes};
  const int64_t source_strides[] = {-static_cast<int64_t>(rows) * row_pitch, -row_pitch, 1};
  const int64_t destination_strides[] = {static_cast<int64_t>(rows) * row_bytes, row_bytes, 1};
  zevent::append_strided_copy(
      list, job.destination_row(0), job.source_row(0),
      zevent::strided_shape{extents, source_strides, destination_strides, 1}, {.signal = done});
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view placement = argc == 2 ? argv[1] : "";
  const auto at = example::first_device();
  zevent::event_pool events(at.context, at.device);
  const zevent::event done = events.acquire();
  copy_job job;

  const bool in_order = placement == "all-but-first";
  const auto list =
      example::immediate_list(at, in_order ? example::order::in_order : example::order::unordered);
  if (placement == "all-but-first") {
    append_all_but_first(list, job, done.handle());
  } else if (placement == "last") {
    append_last(list, job, done.handle());
  } else if (placement == "library") {
    append_by_library(list, job, done);
  } else {
    std::fprintf(stderr, "usage: early_signal_copy all-but-first|last|library\n");
    return 2;
  }
  done.wait();
  const bool complete = job.is_complete();
  std::printf("%.*s: signalled %s\n", static_cast<int>(placement.size()), placement.data(),
              complete ? "when everything was there" : "TOO EARLY");

  // The memory goes away when the last row is copied, not before.
  const zevent::event rest = events.acquire();
  CHECK(zeCommandListAppendBarrier(list, rest.handle(), 0, nullptr));
  rest.wait();
  return complete ? 0 : 1;
} catch (const zevent::error& failure) {
  std::fprintf(stderr, "early_signal_copy: %s\n", failure.what());
  return 3;
}
