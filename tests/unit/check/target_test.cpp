#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include "api/recording_format.hpp"
#include "check/checker.hpp"

namespace zevent::check {
namespace {

using enum argument;
using enum function;

// Snapshots of the memory that a copy writes to: when it is submitted, and around waits.
class copy_targets : public testing::Test {
 protected:
  static constexpr uint64_t target = 0x7f00'0000'0000, source = 0x7e00'0000'0000;
  static constexpr uint64_t list = 0x100, other = 0x200;
  static constexpr size_t size = 64;
  using content = std::vector<std::byte>;
  using arguments = std::initializer_list<std::pair<argument, uint64_t>>;

  static content filled(unsigned value) { return content(size, static_cast<std::byte>(value)); }
  // The first half is of one, the second of the other.
  static content halves(unsigned first, unsigned second) {
    auto made = filled(first);
    std::fill(made.begin() + size / 2, made.end(), static_cast<std::byte>(second));
    return made;
  }

  void note(uint64_t address, const content& held, unsigned flags) {
    trace::blob_hash hash{};
    hash.bytes[0] = static_cast<uint8_t>(blobs.size());
    for (size_t i = 0; i < blobs.size(); ++i) {
      if (blobs[i] == held) hash.bytes[0] = static_cast<uint8_t>(i);
    }
    if (hash.bytes[0] == blobs.size()) blobs.push_back(held);
    notes.push_back({.call = model::call_number{next},
                     .address = address,
                     .bytes = size,
                     .flags = static_cast<uint8_t>(flags),
                     .content = hash});
  }
  void note_before(const content& held) { note(target, held, recording::memory_is_snapshot); }
  void note_after(const content& held) {
    note(target, held, recording::memory_is_snapshot | recording::memory_is_after_call);
  }

  void call(function which, arguments given, std::vector<uint64_t> waits = {},
            uint32_t thread = 1) {
    model::call_view made;
    made.number = model::call_number{next};
    made.which = which;
    made.name = name_of(which);
    made.thread = thread;
    made.start_ns = ++next * 1000;
    made.end_ns = made.start_ns + 100;
    for (const auto& [a, value] : given) made.set(a, value);
    if (!waits.empty()) made.set_list(phWaitEvents, waits);
    judge.add(made, UINT64_MAX, notes);
    notes.clear();
  }
  void copy(uint64_t on, uint64_t to, std::vector<uint64_t> waits = {}) {
    call(zeCommandListAppendMemoryCopy,
         {{hCommandList, on}, {dstptr, to}, {srcptr, source}, {argument::size, size}},
         std::move(waits));
  }
  void wait_for(uint64_t which, uint32_t thread = 1) {
    call(zeCommandListHostSynchronize, {{hCommandList, which}, {timeout, UINT64_MAX}}, {}, thread);
  }
  std::string found() {
    std::string text;
    for (const auto& each : judge.finish()) {
      if (each.level != severity::note) text += to_text(each.rule) + " ";
    }
    return text;
  }

  void SetUp() override {
    for (const auto made : {list, other}) {
      call(zeCommandListCreateImmediate, {{desc, 1},
                                          {flags, ZE_COMMAND_QUEUE_FLAG_IN_ORDER},
                                          {mode, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS},
                                          {phCommandList, made}});
    }
  }

  uint64_t next = 0;
  std::vector<content> blobs;
  std::vector<trace::memory_note> notes;
  checker judge{{}, {}, [this](const trace::blob_hash& hash) -> std::optional<content> {
                  return blobs.at(hash.bytes[0]);
                }};
};

TEST_F(copy_targets, that_hold_something_foreign_before_the_wait_were_written_by_the_host) {
  note_before(filled(0));
  copy(list, target);
  note_before(halves(9, 0));
  note_after(filled(1));
  wait_for(list);
  EXPECT_EQ(found(), "EV-47 ");
}

TEST_F(copy_targets, are_half_done_or_done_when_the_host_begins_to_wait) {
  for (const auto& found_before : {filled(0), halves(1, 0), filled(1)}) {
    note_before(filled(0));
    copy(list, target);
    note_before(found_before);
    note_after(filled(1));
    wait_for(list);
  }
  EXPECT_EQ(found(), "");
}

TEST_F(copy_targets, that_do_not_hold_what_was_copied_were_written_by_the_host) {
  note(source, filled(1), recording::memory_is_copy_source);
  note_before(filled(0));
  copy(list, target);
  note_before(halves(9, 1));
  note_after(halves(9, 1));
  wait_for(list);
  EXPECT_EQ(found(), "EV-47 ");
}

TEST_F(copy_targets, that_hold_what_was_copied_were_not) {
  note(source, filled(1), recording::memory_is_copy_source);
  note_before(filled(0));
  copy(list, target);
  note_before(filled(1));
  note_after(filled(1));
  wait_for(list);
  EXPECT_EQ(found(), "");
}

TEST_F(copy_targets, are_judged_by_the_wait_for_their_copy) {
  note_before(filled(0));
  copy(list, target);
  note_before(halves(1, 0));
  note_after(halves(1, 0));
  wait_for(other);
  note_after(filled(1));
  wait_for(list);
  EXPECT_EQ(found(), "");
}

TEST_F(copy_targets, may_be_written_before_the_copy_can_start) {
  call(zeEventPoolCreate,
       {{desc, 1}, {flags, ZE_EVENT_POOL_FLAG_HOST_VISIBLE}, {count, 1}, {phEventPool, 0x300}});
  call(zeEventCreate, {{hEventPool, 0x300}, {desc, 1}, {phEvent, 0x400}});
  note_before(filled(0));
  copy(list, target, {0x400});
  call(zeEventHostSignal, {{hEvent, 0x400}});
  note_before(filled(9));
  note_after(filled(1));
  wait_for(list);
  EXPECT_EQ(found(), "");
}

TEST_F(copy_targets, may_be_written_by_another_command) {
  note_before(filled(0));
  copy(list, target);
  copy(list, target + size / 2);
  note_before(filled(9));
  note_after(filled(1));
  wait_for(list);
  EXPECT_EQ(found(), "");
}

TEST_F(copy_targets, may_be_written_by_a_host_function) {
  note_before(filled(0));
  copy(list, target);
  call(zeCommandListAppendHostFunction, {{hCommandList, list}});
  note_before(filled(9));
  note_after(filled(1));
  wait_for(list);
  EXPECT_EQ(found(), "");
}

TEST_F(copy_targets, may_be_written_by_a_thread_that_knew_more) {
  note_before(filled(0));
  copy(list, target);
  wait_for(list, 2);
  note_before(filled(9));
  note_after(filled(1));
  wait_for(list);
  EXPECT_EQ(found(), "");
}

TEST_F(copy_targets, have_sources_that_the_host_leaves_alone_too) {
  note(source, filled(1), recording::memory_is_copy_source);
  copy(list, 0x8000);
  note(source, filled(2), recording::memory_is_copy_source | recording::memory_is_snapshot);
  wait_for(list);
  EXPECT_EQ(found(), "EV-47 ");
}

TEST_F(copy_targets, have_sources_that_a_host_function_may_write_to) {
  note(source, filled(1), recording::memory_is_copy_source);
  copy(list, 0x8000);
  call(zeCommandListAppendHostFunction, {{hCommandList, list}});
  note(source, filled(2), recording::memory_is_copy_source | recording::memory_is_snapshot);
  wait_for(list);
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace zevent::check
