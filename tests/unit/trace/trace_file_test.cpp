#include "trace/trace_file.hpp"

#include <gtest/gtest.h>

#include "packed.hpp"

namespace zevent::trace {
namespace {

// Long enough for several blocks.
std::vector<std::byte> long_trace(uint64_t calls) {
  fake_program program;
  program.file.segment(calls * 40 / recording_builder::unit_bytes + 2);
  program.on_thread(1);
  const auto event = fake_handle<ze_event_handle_t>(0xe1);
  for (uint64_t i = 0; i < calls; ++i)
    program.call("zeEventQueryStatus", {1000 + i * 10, 5}, event);
  return packed_bytes({&program});
}

TEST(trace_file, any_call_is_found_by_its_number) {
  const auto trace = trace_file::parse(own_bytes(long_trace(80'000)));
  ASSERT_TRUE(trace);
  ASSERT_GT(trace->blocks(), 2u);
  for (const uint64_t number : {uint64_t{0}, uint64_t{1}, uint64_t{32767}, uint64_t{32768},
                                uint64_t{50'000}, uint64_t{79'999}}) {
    call_reader reader(*trace, call_number{number});
    const call* each = reader.next();
    ASSERT_NE(each, nullptr);
    EXPECT_EQ(number_of(each->number), number);
    EXPECT_EQ(each->start_ns, number * 10);
    EXPECT_EQ(reader.arguments().inputs.size(), 8u);
  }
  EXPECT_EQ(call_reader(*trace, call_number{80'000}).next(), nullptr);
  EXPECT_EQ(call_reader(*trace, call_number{UINT64_MAX}).next(), nullptr);
}

TEST(trace_file, damaged_block_costs_its_own_calls_only) {
  auto bytes = long_trace(80'000);
  const auto whole = trace_file::parse(own_bytes(bytes));
  const auto file = chunk_file::parse(own_bytes(bytes));
  uint64_t second_block = 0;
  for (const auto& entry : file->chunks())
    if (entry.kind == chunk_kind::calls && entry.first_item == 32768) second_block = entry.offset;
  bytes[second_block + 200] ^= std::byte{1};
  const auto trace = trace_file::parse(own_bytes(bytes));
  ASSERT_TRUE(trace);
  call_reader reader(*trace);
  uint64_t calls = 0, last = 0;
  while (const call* each = reader.next()) ++calls, last = number_of(each->number);
  EXPECT_EQ(calls, 80'000u - 32768);
  EXPECT_EQ(last, 79'999u) << "those behind the gap keep their numbers";
  EXPECT_EQ(reader.damage().size(), 1u);
}

// A small trace with everything in it.
std::vector<std::byte> small_trace() {
  fake_program program;
  program.file.fact("executable", "/bin/app");
  const auto pool = fake_handle<ze_event_pool_handle_t>(0x9001);
  const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
  const auto* desc_pointer = &desc;
  for (uint64_t i = 0; i < 5; ++i) {
    ze_event_handle_t event = nullptr;
    ze_event_handle_t* event_pointer = &event;
    const auto place = program.call(
        "zeEventCreate", {1000 + 100 * i, 10}, ZE_RESULT_SUCCESS,
        [&] { event = fake_handle<ze_event_handle_t>(0xe0 + i); }, pool, desc_pointer,
        event_pointer);
    const std::string content = "content " + std::to_string(i);
    program.file.blob(hash_of(std::as_bytes(std::span(content))), content);
    program.file.memory(place, 0x100 * i, content.size(),
                        hash_of(std::as_bytes(std::span(content))));
  }
  return packed_bytes({&program});
}

// Reads all there is; what matters is that it ends without a fault.
uint64_t read_everything(const trace_file& trace) {
  uint64_t calls = 0;
  call_reader reader(trace);
  while (const call* each = reader.next()) {
    ++calls;
    const auto arguments = reader.arguments();
    (void)trace.function(*each);
    (void)trace.process_of(*each);
    EXPECT_LT(arguments.inputs.size(), 1000u);
  }
  (void)trace.memory_notes(call_number{0}, call_number{UINT64_MAX});
  for (const auto& hash : trace.blobs().all()) (void)trace.read_blob(hash);
  return calls;
}

// Every byte of the file, but of the API's description, which is most of it, only some.
std::vector<size_t> places_in(const std::vector<std::byte>& bytes) {
  const auto file = chunk_file::parse(own_bytes(bytes));
  std::vector<size_t> places;
  const auto& model = file->chunks().front();
  const size_t dull_from = model.offset + 500, dull_until = model.offset + model.payload_bytes;
  for (size_t i = 0; i<bytes.size(); i += i> dull_from && i < dull_until ? 331 : 1)
    places.push_back(i);
  return places;
}

TEST(trace_file, cut_at_any_byte_opens_up_to_the_cut_or_says_why_not) {
  const auto whole = small_trace();
  uint64_t most = 0;
  for (const size_t size : places_in(whole)) {
    const auto trace = trace_file::parse(own_bytes({whole.begin(), whole.begin() + long(size)}));
    if (!trace) {
      EXPECT_FALSE(trace.error().message.empty());
      continue;
    }
    EXPECT_FALSE(trace->damage().empty()) << "cut at " << size;
    const auto calls = read_everything(*trace);
    EXPECT_GE(calls, most) << "cut at " << size;
    most = std::max(calls, most);
    if (calls == 5) {
      EXPECT_EQ(trace->objects().all().size(), 5u) << "found again, cut at " << size;
    }
  }
  EXPECT_EQ(most, 5u);
}

TEST(trace_file, flipped_bytes_are_noticed_or_harmless) {
  const auto whole = small_trace();
  for (const size_t i : places_in(whole)) {
    auto bytes = whole;
    bytes[i] ^= std::byte{0x20};
    const auto trace = trace_file::parse(own_bytes(bytes));
    if (trace) {
      EXPECT_LE(read_everything(*trace), 5u) << "byte " << i;
    }
  }
}

}  // namespace
}  // namespace zevent::trace
