#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "api/model.hpp"

namespace zevent::recorder_test {

// Arguments for any function, made up by the model: pointers point at memory that is large enough,
// chains are chains, strings end.
class random_arguments {
 public:
  explicit random_arguments(uint32_t seed) : random_(seed) {}

  // The addresses of the arguments; valid until the next call.
  std::vector<void*> make(const api::function& f);

  // Stores new random values wherever the function may write.
  void scribble(const api::function& f, const void* const* arguments);

 private:
  uint64_t number(uint64_t least, uint64_t most) {
    return std::uniform_int_distribution<uint64_t>(least, most)(random_);
  }
  bool chance(unsigned percent) { return number(1, 100) <= percent; }
  std::byte* allocate(size_t bytes);
  void fill_scalar(const api::type& t, std::byte* at);
  void fill_variable(const api::variable& v, std::byte* at);
  void fill_element(const api::type& t, std::byte* at, const api::extent& e,
                    const api::extent& inner);
  void fill_record(const api::record& r, std::byte* at);
  std::byte* content(const api::type& pointee, const api::extent& e, const api::extent& inner);
  std::byte* chain();
  void scribble_content(const api::type& pointee, const api::extent& e, std::byte* at);

  std::mt19937 random_;
  std::deque<std::vector<std::byte>> memory_;
  int chain_depth_ = 0;
  api::api_name api_ = api::api_name::ze;
};

}  // namespace zevent::recorder_test
