#include "driver/memory_commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "driver/chaos.hpp"

namespace zevent::driver {
namespace {

// A copy in progress: under chaos the end arrives first and the beginning last, and others get to
// run before each of the two rests. There are no more pieces, since on a busy machine each costs
// the others' whole time slices.
void copy_last_piece_first(char* to, const char* from, size_t bytes) {
  const size_t piece = std::max(size_t{64} << 10, bytes / 16);
  size_t left = bytes;
  const auto copy_down_to = [&](size_t begin) {
    std::memcpy(to + begin, from + begin, left - begin);
    left = begin;
    if (left > 0) usleep(1);  // to yield would cost a nice process far more
  };
  if (bytes > piece) copy_down_to(bytes - piece);
  if (left > piece) copy_down_to(piece);
  copy_down_to(0);
}

class copy_command final : public command {
 public:
  copy_command(void* destination, const void* source, size_t bytes)
      : destination_(destination), source_(source), bytes_(bytes) {}

  ze_result_t run() override {
    const auto* from = static_cast<const char*>(source_);
    auto* to = static_cast<char*>(destination_);
    const bool apart = to >= from + bytes_ || from >= to + bytes_;
    if (apart && has_chaos()) {
      copy_last_piece_first(to, from, bytes_);
    } else if (apart) {
      std::memcpy(to, from, bytes_);
    } else {
      std::memmove(to, from, bytes_);
    }
    return ZE_RESULT_SUCCESS;
  }

 private:
  void* const destination_;
  const void* const source_;
  const size_t bytes_;
};

class fill_command final : public command {
 public:
  fill_command(void* destination, const void* pattern, size_t pattern_bytes, size_t bytes)
      : destination_(static_cast<char*>(destination)),
        pattern_(static_cast<const char*>(pattern),
                 static_cast<const char*>(pattern) + pattern_bytes),
        bytes_(bytes) {}

  ze_result_t run() override {
    if (pattern_.size() == 1) {
      std::memset(destination_, pattern_[0], bytes_);
      return ZE_RESULT_SUCCESS;
    }
    // The filled part is copied behind itself, twice as long each time, up to a piece that stays in
    // the cache and is then repeated.
    constexpr size_t piece_bytes = size_t{64} << 10;
    size_t filled = std::min(pattern_.size(), bytes_);
    std::memcpy(destination_, pattern_.data(), filled);
    while (filled < bytes_) {
      const size_t whole = filled - filled % pattern_.size();
      const size_t next = std::min({bytes_ - filled, whole, piece_bytes_of(piece_bytes)});
      std::memcpy(destination_ + filled, destination_, next);
      filled += next;
    }
    return ZE_RESULT_SUCCESS;
  }

 private:
  // A multiple of the pattern, so that every piece starts with one.
  size_t piece_bytes_of(size_t about) const {
    return std::max(about - about % pattern_.size(), pattern_.size());
  }

  char* const destination_;
  const std::vector<char> pattern_;
  const size_t bytes_;
};

// A region without depth is one slice.
uint32_t slices_of(const ze_copy_region_t& region) {
  return std::max(region.depth, 1u);
}

size_t slice_pitch_of(const region_side& side) {
  return side.slice_pitch_bytes != 0
             ? side.slice_pitch_bytes
             : side.pitch_bytes * (side.region.originY + side.region.height);
}

size_t offset_of(const region_side& side, size_t row, size_t slice) {
  return side.region.originX + (side.region.originY + row) * side.pitch_bytes +
         (side.region.originZ + slice) * slice_pitch_of(side);
}

class region_copy_command final : public command {
 public:
  region_copy_command(const region_side& destination, const region_side& source)
      : destination_(destination), source_(source) {}

  ze_result_t run() override {
    const ze_copy_region_t& extent = source_.region;
    auto* to = static_cast<char*>(const_cast<void*>(destination_.base));
    const auto* from = static_cast<const char*>(source_.base);
    for (size_t slice = 0; slice < slices_of(extent); ++slice) {
      for (size_t row = 0; row < extent.height; ++row) {
        std::memcpy(to + offset_of(destination_, row, slice), from + offset_of(source_, row, slice),
                    extent.width);
      }
    }
    return ZE_RESULT_SUCCESS;
  }

 private:
  const region_side destination_;
  const region_side source_;
};

// Whether two regions of one array (same base, same pitches) share bytes. Regions of different
// arrays overlap only where the program hands in overlapping arrays, which is not looked for.
bool overlap(const region_side& a, const region_side& b) {
  const auto meet = [](uint64_t first, uint64_t second, uint64_t extent) {
    return first < second + extent && second < first + extent;
  };
  return a.base == b.base && a.pitch_bytes == b.pitch_bytes &&
         a.slice_pitch_bytes == b.slice_pitch_bytes &&
         meet(a.region.originX, b.region.originX, a.region.width) &&
         meet(a.region.originY, b.region.originY, a.region.height) &&
         meet(a.region.originZ, b.region.originZ, slices_of(a.region));
}

}  // namespace

std::unique_ptr<command> make_copy(void* destination, const void* source, size_t bytes) {
  return std::make_unique<copy_command>(destination, source, bytes);
}

std::unique_ptr<command> make_fill(void* destination, const void* pattern, size_t pattern_bytes,
                                   size_t bytes) {
  return std::make_unique<fill_command>(destination, pattern, pattern_bytes, bytes);
}

ze_result_t make_region_copy(const region_side& destination, const region_side& source,
                             std::unique_ptr<command>* out) {
  if (destination.region.width != source.region.width ||
      destination.region.height != source.region.height ||
      slices_of(destination.region) != slices_of(source.region)) {
    return ZE_RESULT_ERROR_INVALID_SIZE;
  }
  if (overlap(destination, source)) return ZE_RESULT_ERROR_OVERLAPPING_REGIONS;
  *out = std::make_unique<region_copy_command>(destination, source);
  return ZE_RESULT_SUCCESS;
}

}  // namespace zevent::driver
