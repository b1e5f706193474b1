// Events shared between processes, within this one and with real other ones.
#include "zevent/ipc_event.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "device_fixture.hpp"
#include "peer_process.hpp"
#include "support/other_thread.hpp"
#include "zevent/ipc_transport.hpp"

namespace zevent {
namespace {

using namespace std::chrono_literals;

bool shares_one_way() {
  const char* mode = std::getenv("ZEVENT_IPC_EVENTS");
  return mode != nullptr && std::string(mode) == "one-way";
}

class ipc_event_test : public device_test {
 protected:
  void SetUp() override {
    device_test::SetUp();
    list = std::make_unique<test_list>(context, device, list_kind::immediate_in_order);
    go = std::make_unique<event>(event::create(context, device));
  }
  void TearDown() override {
    if (go && !go->ready()) go->signal();
    list->finish();
    list.reset();
    go.reset();
    device_test::TearDown();
  }

  // An event that is signalled when `go` is, or at once.
  ipc_event pending() {
    ipc_event e = ipc_event::create(context, device);
    ze_event_handle_t wait = go->handle();
    EXPECT_EQ(zeCommandListAppendBarrier(*list, e.handle(), 1, &wait), ZE_RESULT_SUCCESS);
    return e;
  }
  ipc_event signalled() {
    ipc_event e = ipc_event::create(context, device);
    append_signal(e);
    e.wait();
    return e;
  }
  void append_signal(const ipc_event& e) {
    EXPECT_EQ(zeCommandListAppendSignalEvent(*list, e.handle()), ZE_RESULT_SUCCESS);
  }

  template <typename Call>
  static ze_result_t refusal(Call&& call) {
    try {
      call();
    } catch (const error& e) {
      return e.result();
    }
    return ZE_RESULT_SUCCESS;
  }

  // A command that has just signalled the event may keep it alive a little longer.
  void await_refusal(const ipc_handle& stale) {
    while (refusal([&] { ipc_event::open(context, stale); }) == ZE_RESULT_SUCCESS) {
      std::this_thread::sleep_for(1ms);
    }
  }

  std::unique_ptr<test_list> list;
  std::unique_ptr<event> go;
};

TEST_F(ipc_event_test, the_driver_says_that_it_can_share) {
  EXPECT_TRUE(ipc_event::supported(device));
  EXPECT_TRUE(ipc_event::supported(device)) << "asked again";
}

TEST_F(ipc_event_test, a_handle_has_64_bytes_and_is_not_empty) {
  const ipc_handle handle = signalled().export_handle();
  static_assert(sizeof handle == 64);
  EXPECT_NE(handle, ipc_handle{});
}

TEST_F(ipc_event_test, opens_in_the_same_process_and_waits) {
  const ipc_event producer = pending();
  const ipc_event consumer = ipc_event::open(context, producer.export_handle());
  EXPECT_TRUE(consumer.imported());
  EXPECT_FALSE(producer.imported());
  EXPECT_NE(consumer.handle(), producer.handle());
  EXPECT_FALSE(consumer.ready());
  EXPECT_FALSE(consumer.wait(1ms));
  go->signal();
  EXPECT_TRUE(consumer.wait(24h));
  EXPECT_TRUE(consumer.ready());
}

TEST_F(ipc_event_test, an_imported_event_holds_up_a_command) {
  const ipc_event producer = pending();
  const ipc_event consumer = ipc_event::open(context, producer.export_handle());
  test_list other(context, device, list_kind::immediate);
  const event after = event::create(context, device);
  ze_event_handle_t wait = consumer.handle();
  ZE_OK(zeCommandListAppendBarrier(other, after.handle(), 1, &wait));
  EXPECT_FALSE(after.wait(1ms));
  go->signal();
  EXPECT_TRUE(after.wait(24h));
  other.finish();
}

TEST_F(ipc_event_test, ownership_moves_and_the_last_of_shared_owners_closes) {
  const ipc_event producer = signalled();
  ipc_event first = ipc_event::open(context, producer.export_handle());
  const ze_event_handle_t handle = first.handle();
  ipc_event second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.handle(), handle);
  EXPECT_THROW(first.ready(), error);

  auto shared = std::make_shared<ipc_event>(std::move(second));
  auto copy = shared;
  shared.reset();
  EXPECT_TRUE(copy->ready()) << "closed although a copy still holds it";
  copy.reset();
  EXPECT_TRUE(producer.ready()) << "closing an import touched the producer";
}

TEST_F(ipc_event_test, round_trips_repeat) {
  const ipc_event producer = ipc_event::create(context, device);
  for (int i = 0; i < 100; ++i) {
    append_signal(producer);
    const ipc_event consumer = ipc_event::open(context, producer.export_handle());
    ASSERT_TRUE(consumer.wait(24h));
  }
}

TEST_F(ipc_event_test, one_handle_opens_several_independent_events) {
  const ipc_event producer = pending();
  const ipc_handle handle = producer.export_handle();
  std::vector<ipc_event> consumers;
  for (int i = 0; i < 5; ++i) consumers.push_back(ipc_event::open(context, handle));
  consumers.erase(consumers.begin() + 2);
  go->signal();
  for (const ipc_event& consumer : consumers) EXPECT_TRUE(consumer.wait(24h));
}

TEST_F(ipc_event_test, giving_up_the_handle_leaves_the_producer_alive) {
  const ipc_event producer = signalled();
  (void)producer.export_handle();
  EXPECT_TRUE(producer.ready());
  const ipc_event consumer = ipc_event::open(context, producer.export_handle());
  EXPECT_TRUE(consumer.ready());
}

TEST_F(ipc_event_test, an_event_can_be_opened_before_its_first_signal_where_sharing_is_two_way) {
  const ipc_event producer = ipc_event::create(context, device);
  if (shares_one_way()) {
    EXPECT_EQ(refusal([&] { producer.export_handle(); }), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    return;
  }
  const ipc_event consumer = ipc_event::open(context, producer.export_handle());
  ze_event_handle_t wait = go->handle();
  ZE_OK(zeCommandListAppendBarrier(*list, producer.handle(), 1, &wait));
  EXPECT_FALSE(consumer.ready());
  go->signal();
  EXPECT_TRUE(consumer.wait(24h));
}

TEST_F(ipc_event_test, refuses_to_create_with_timestamps) {
  for (const uint32_t flag :
       {ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP, ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP}) {
    EXPECT_EQ(refusal([&] { ipc_event::create(context, device, flag); }),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
  }
}

TEST_F(ipc_event_test, refuses_reserved_flag_bits) {
  EXPECT_EQ(refusal([&] { ipc_event::create(context, device, 0x80); }),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  EXPECT_EQ(refusal([&] { ipc_event::create(context, device, 0x80000001); }),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(ipc_event_test, refuses_null_arguments) {
  const ipc_handle handle = signalled().export_handle();
  EXPECT_EQ(refusal([&] { ipc_event::create(nullptr, device); }),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(refusal([&] { ipc_event::create(context, nullptr); }),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(refusal([&] { ipc_event::open(nullptr, handle); }),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(refusal([&] { ipc_event::open(context, {}); }), ZE_RESULT_ERROR_INVALID_SIZE);
  EXPECT_EQ(refusal([&] { ipc_event::adopt(nullptr); }), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(refusal([&] { ipc_event::supported(nullptr); }), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(ipc_event_test, refuses_a_handle_of_the_wrong_size) {
  const ipc_event producer = signalled();
  const ipc_handle handle = producer.export_handle();
  std::vector<std::byte> longer(handle.begin(), handle.end());
  longer.push_back({});
  EXPECT_EQ(refusal([&] { ipc_event::open(context, longer); }), ZE_RESULT_ERROR_INVALID_SIZE);
  for (size_t bytes = 0; bytes < handle.size(); ++bytes) {
    EXPECT_EQ(refusal([&] { ipc_event::open(context, std::span(handle).first(bytes)); }),
              ZE_RESULT_ERROR_INVALID_SIZE);
  }
}

TEST_F(ipc_event_test, refuses_a_device_that_is_not_of_the_context) {
  std::vector<ze_device_handle_t> devices(2);
  uint32_t count = 2;
  ZE_OK(zeDeviceGet(driver, &count, devices.data()));
  ASSERT_EQ(count, 2u) << "this test needs ZEVENT_DEVICES=2";
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t first_only = nullptr;
  ZE_OK(zeContextCreateEx(driver, &desc, 1, devices.data(), &first_only));
  EXPECT_EQ(refusal([&] { ipc_event::create(first_only, devices[1]); }),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(refusal([&] { ipc_event::create(first_only, devices[0]); }), ZE_RESULT_SUCCESS);
  zeContextDestroy(first_only);
}

TEST_F(ipc_event_test, refuses_to_export_what_was_imported) {
  const ipc_event producer = signalled();
  const ipc_event consumer = ipc_event::open(context, producer.export_handle());
  EXPECT_EQ(refusal([&] { consumer.export_handle(); }), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(ipc_event_test, refuses_to_export_what_was_not_made_for_sharing) {
  const auto adopted_with = [&](ze_event_counter_based_flags_t flags) {
    ze_event_counter_based_desc_t desc{};
    desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
    desc.flags = flags | ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE;
    ze_event_handle_t handle = nullptr;
    EXPECT_EQ(zeEventCounterBasedCreate(context, device, &desc, &handle), ZE_RESULT_SUCCESS);
    ipc_event adopted = ipc_event::adopt(handle);
    append_signal(adopted);
    return adopted;
  };
  const ipc_event plain = adopted_with(0);
  EXPECT_EQ(refusal([&] { plain.export_handle(); }), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const ipc_event timed = adopted_with(ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
  EXPECT_EQ(refusal([&] { timed.export_handle(); }), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  const ipc_event shareable = adopted_with(ZE_EVENT_COUNTER_BASED_FLAG_IPC);
  EXPECT_EQ(refusal([&] { shareable.export_handle(); }), ZE_RESULT_SUCCESS);
}

TEST_F(ipc_event_test, refuses_a_stale_handle) {
  ipc_handle stale{};
  {
    const ipc_event producer = signalled();
    stale = producer.export_handle();
    EXPECT_EQ(refusal([&] { ipc_event::open(context, stale); }), ZE_RESULT_SUCCESS);
  }
  await_refusal(stale);
}

TEST_F(ipc_event_test, refuses_a_stale_handle_although_another_event_took_its_place) {
  auto producer = std::make_unique<ipc_event>(signalled());
  const ipc_handle stale = producer->export_handle();
  producer = nullptr;
  await_refusal(stale);
  const ipc_event successor = signalled();
  EXPECT_NE(successor.export_handle(), stale);
  EXPECT_NE(refusal([&] { ipc_event::open(context, stale); }), ZE_RESULT_SUCCESS)
      << "opened an event that was never exported under this handle";
}

TEST_F(ipc_event_test, survives_ten_thousand_random_handles) {
  std::mt19937_64 random(1);
  int opened = 0;
  for (int i = 0; i < 10'000; ++i) {
    ipc_handle handle;
    for (auto& byte : handle) byte = static_cast<std::byte>(random());
    opened += refusal([&] { ipc_event::open(context, handle); }) == ZE_RESULT_SUCCESS;
  }
  EXPECT_EQ(opened, 0);
}

TEST_F(ipc_event_test, survives_handles_that_were_tampered_with) {
  const ipc_event producer = signalled();
  const ipc_handle good = producer.export_handle();
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    ipc_handle bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    // The number of the descriptor may be anything, since receivers replace it.
    const bool is_descriptor = bit < 32;
    const ze_result_t result = refusal([&] { ipc_event::open(context, bad); });
    EXPECT_TRUE(is_descriptor || result != ZE_RESULT_SUCCESS) << "bit " << bit;
  }
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

TEST_F(ipc_event_test, ten_thousand_rounds_leave_no_descriptor_and_no_mapping) {
  const auto round = [&] {
    const ipc_event producer = ipc_event::create(context, device);
    append_signal(producer);
    const ipc_event consumer = ipc_event::open(context, producer.export_handle());
    consumer.wait();
  };
  for (int i = 0; i < 100; ++i) round();
  const size_t descriptors = open_descriptors();
  const size_t mapped = mappings();
  for (int i = 0; i < 10'000; ++i) round();
  EXPECT_LE(open_descriptors(), descriptors);
  // The allocators of the process may grow a little; a leak would be thousands.
  EXPECT_LE(mappings(), mapped + 20);
}

class ipc_process_test : public ipc_event_test,
                         public testing::WithParamInterface<handle_passing> {};

TEST_P(ipc_process_test, another_process_waits_and_is_woken) {
  const ipc_event producer = pending();
  peer_process consumer("wait");
  send_ipc_handle(consumer.socket(), producer.export_handle(), GetParam());
  ASSERT_EQ(consumer.hear(), peer::opened);
  go->signal();
  EXPECT_EQ(consumer.hear(), peer::signalled);
}

TEST_P(ipc_process_test, several_processes_wait_for_one_event) {
  const ipc_event producer = pending();
  peer_process consumers[] = {peer_process("wait"), peer_process("wait"), peer_process("wait")};
  const ipc_handle handle = producer.export_handle();
  for (auto& consumer : consumers) send_ipc_handle(consumer.socket(), handle, GetParam());
  for (auto& consumer : consumers) ASSERT_EQ(consumer.hear(), peer::opened);
  go->signal();
  for (auto& consumer : consumers) EXPECT_EQ(consumer.hear(), peer::signalled);
}

INSTANTIATE_TEST_SUITE_P(over_a_socket, ipc_process_test,
                         testing::Values(handle_passing::bytes_only,
                                         handle_passing::with_descriptor),
                         [](const auto& test) {
                           return test.param == handle_passing::bytes_only ? "as_bytes"
                                                                           : "with_descriptor";
                         });

TEST_F(ipc_event_test, a_handle_travels_through_shared_memory) {
  const int memory = memfd_create("mailbox", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(memory, sizeof(ipc_mailbox)), 0);
  void* mapped = mmap(nullptr, sizeof(ipc_mailbox), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const ipc_event producer = pending();
  peer_process consumer("take", memory);
  EXPECT_TRUE(static_cast<ipc_mailbox*>(mapped)->put(producer.export_handle(), 24h));
  ASSERT_EQ(consumer.hear(), peer::opened);
  go->signal();
  EXPECT_EQ(consumer.hear(), peer::signalled);
  munmap(mapped, sizeof(ipc_mailbox));
  close(memory);
}

TEST_F(ipc_event_test, another_process_finds_an_event_that_is_signalled_already) {
  const ipc_event producer = signalled();
  peer_process consumer("query");
  send_ipc_handle(consumer.socket(), producer.export_handle());
  ASSERT_EQ(consumer.hear(), peer::opened);
  EXPECT_EQ(consumer.hear(), peer::signalled);
}

TEST_F(ipc_event_test, a_signal_appended_after_the_open_is_seen_where_sharing_is_two_way) {
  if (shares_one_way()) GTEST_SKIP() << "an imported event stands for the signal that was exported";
  const ipc_event producer = ipc_event::create(context, device);
  peer_process consumer("wait_twice");
  send_ipc_handle(consumer.socket(), producer.export_handle());
  ASSERT_EQ(consumer.hear(), peer::opened);
  // Complete until a signal is appended: the first wait may return at once.
  EXPECT_EQ(consumer.hear(), peer::signalled);
  ze_event_handle_t wait = go->handle();
  ZE_OK(zeCommandListAppendBarrier(*list, producer.handle(), 1, &wait));
  consumer.tell(peer::go_on);
  go->signal();
  EXPECT_EQ(consumer.hear(), peer::signalled);
}

TEST_F(ipc_event_test, an_importer_signals_where_sharing_is_two_way_and_is_refused_elsewhere) {
  const ipc_event producer = signalled();
  peer_process other("signal");
  send_ipc_handle(other.socket(), producer.export_handle());
  ASSERT_EQ(other.hear(), peer::opened);
  EXPECT_EQ(other.hear(), shares_one_way() ? peer::refused : peer::done);
  EXPECT_TRUE(producer.wait(24h));
}

TEST_F(ipc_event_test, a_consumer_is_told_when_the_producer_dies) {
  peer_process producer("produce_die");
  const ipc_event consumer =
      ipc_event::open(context, receive_ipc_handle(producer.socket()).handle());
  EXPECT_FALSE(consumer.ready());
  ze_result_t result = ZE_RESULT_SUCCESS;
  {
    const zevent::test::calling_thread waiter([&] { result = refusal([&] { consumer.wait(); }); });
    EXPECT_TRUE(waiter.blocks());
    producer.tell(peer::go_on);
    EXPECT_EQ(producer.join(), 0);
  }
  EXPECT_EQ(result, ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST_F(ipc_event_test, the_handle_of_a_dead_process_is_refused) {
  ipc_handle stale{};
  {
    peer_process producer("produce_die");
    stale = receive_ipc_handle(producer.socket()).handle();
    producer.tell(peer::go_on);
  }
  EXPECT_NE(refusal([&] { ipc_event::open(context, stale); }), ZE_RESULT_SUCCESS);
}

TEST_F(ipc_event_test, a_socket_that_hangs_up_is_an_error) {
  peer_process peer("query");
  shutdown(peer.socket(), SHUT_RDWR);
  EXPECT_THROW(receive_ipc_handle(peer.socket()), error);
  EXPECT_THROW(send_ipc_handle(peer.socket(), {}), error);
  EXPECT_EQ(peer.join(), 1) << "the peer has nothing to receive";
}

TEST(ipc_mailbox, keeps_one_handle_at_a_time) {
  alignas(ipc_mailbox) std::byte memory[sizeof(ipc_mailbox)] = {};
  auto& mailbox = *reinterpret_cast<ipc_mailbox*>(memory);
  ipc_handle in{};
  in[5] = std::byte{42};
  ipc_handle out{};
  EXPECT_FALSE(mailbox.take(out, 0ns));
  EXPECT_TRUE(mailbox.put(in, 0ns));
  EXPECT_FALSE(mailbox.put(in, 1ms)) << "it is full";
  EXPECT_TRUE(mailbox.take(out, 0ns));
  EXPECT_EQ(in, out);
  EXPECT_FALSE(mailbox.take(out, 1ms));
}

}  // namespace
}  // namespace zevent
