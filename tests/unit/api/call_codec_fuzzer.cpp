#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "api/call_codec.hpp"
#include "api/print.hpp"

// Whatever the bytes are, decoding and printing them ends without a fault. The first two choose the
// function. libFuzzer's entry point, which api_tests calls with bytes of its own.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace zevent::api;
  if (size < 2) return 0;
  const model& m = builtin_model();
  const function& f = m.functions[static_cast<size_t>(data[0] | data[1] << 8) % m.functions.size()];
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(2);
  const auto in = decode_inputs(m, f, bytes);
  if (in) print_call(m, *in, nullptr, std::nullopt);
  const auto out = decode_outputs(m, f, bytes);
  if (out) print_call(m, *out, &*out, 0);
  return 0;
}
