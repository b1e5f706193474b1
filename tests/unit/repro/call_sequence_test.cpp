#include "repro/call_sequence.hpp"

#include <algorithm>

#include "story.hpp"

namespace zevent::repro {
namespace {

using trace::fake_handle;
using trace::fake_program;
using trace::packed;

// A process that finds a driver and makes a context of it, from this time on.
void find_a_driver(fake_program& app, uint64_t start_ns) {
  uint32_t one = 1;
  auto* count = &one;
  ze_driver_handle_t driver = nullptr;
  auto* drivers = &driver;
  app.call(
      "zeDriverGet", {start_ns, 10}, ZE_RESULT_SUCCESS,
      [&] { driver = fake_handle<ze_driver_handle_t>(0xd000); }, count, drivers);
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  const auto* desc_pointer = &desc;
  ze_context_handle_t context = nullptr;
  auto* out = &context;
  app.call(
      "zeContextCreate", {start_ns + 100, 10}, ZE_RESULT_SUCCESS,
      [&] { context = fake_handle<ze_context_handle_t>(0xc000); }, driver, desc_pointer, out);
}

std::vector<std::string> lines_of(const trace::trace_file& trace, uint32_t process) {
  std::vector<std::string> out;
  const auto sequence = call_sequence(trace, {.process = process});
  EXPECT_TRUE(sequence) << sequence.error().message;
  if (sequence)
    for (const auto& each : *sequence) out.push_back(each.text);
  return out;
}

TEST(CallSequence, OfAProcessDoesNotTellWhichOfTwoProcessesFoundItsDriverFirst) {
  fake_program early, late;
  early.file.header().process_id = 101;
  late.file.header().process_id = 102;
  find_a_driver(early, 1000);
  find_a_driver(late, 5000);
  const auto both = packed({&early, &late});
  ASSERT_EQ(both.run().processes.size(), 2u);
  const auto first = lines_of(both, 0);
  EXPECT_EQ(first.size(), 2u);
  EXPECT_EQ(first, lines_of(both, 1));
  EXPECT_TRUE(std::any_of(first.begin(), first.end(), [](const std::string& line) {
    return line.find("driver_0") != std::string::npos;
  }));
}

// "A-" asks for event A and is told NOT_READY, "B+" asks for B and is told SUCCESS; "x" signals.
class SequenceOfPolls : public trace::story {
 protected:
  std::vector<std::string> lines(std::vector<std::string_view> asks,
                                 replay::poll_mode mode = replay::poll_mode::until_done) {
    fake_program fresh;
    std::swap(app, fresh);
    const auto owner = pool(0x9000, 2);
    const ze_event_handle_t events[] = {event(owner, 0xe000, 0), event(owner, 0xe001, 1)};
    for (const auto each : asks) {
      if (each == "x")
        app.call("zeEventHostSignal", when(), events[0]);
      else
        app.call(
            "zeEventQueryStatus", when(), each[1] == '+' ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY,
            [] {}, events[each[0] - 'A']);
    }
    std::vector<std::string> out;
    const auto sequence = call_sequence(packed({&app}), {}, mode);
    EXPECT_TRUE(sequence) << sequence.error().message;
    for (const auto& each : *sequence)
      if (each.text.find("hEvent=") != std::string::npos) out.push_back(each.text);
    return out;
  }
};

TEST_F(SequenceOfPolls, DoesNotTellHowOftenItWasAsked) {
  const auto once = lines({"A+", "x"});
  EXPECT_EQ(lines({"A-", "A-", "A-", "A+", "x"}), once);
  EXPECT_EQ(lines({"A-", "x"}), once) << "nor what was answered";
  EXPECT_NE(lines({"x"}), once) << "but whether it was asked";
  EXPECT_NE(lines({"B+", "x"}), once) << "and for what";
  EXPECT_NE(lines({"A+", "x", "A+"}), once) << "and when";
}

TEST_F(SequenceOfPolls, IsThatOfTheReproducerOfAMonitor) {
  const auto recorded = lines({"A-", "B-", "A-", "B-", "A-", "B-", "A+", "B-", "B+"});
  EXPECT_EQ(recorded, lines({"A-", "B-", "A-", "A-", "A+", "B-", "B+"}));
  EXPECT_EQ(recorded, lines({"A+", "B-", "A+", "B+"})) << "the device is earlier";
  EXPECT_EQ(recorded, lines({"A-", "B+", "A-", "A+", "B+"}));
  EXPECT_NE(recorded, lines({"A-", "A-", "A+"}));
}

TEST_F(SequenceOfPolls, HasEveryAskWhereThatIsWanted) {
  const auto exact = replay::poll_mode::exact;
  EXPECT_EQ(lines({"A-", "A-", "A+"}, exact), lines({"A-", "A+", "A+"}, exact));
  EXPECT_NE(lines({"A-", "A-", "A+"}, exact), lines({"A-", "A+"}, exact));
}

std::vector<sequence_line> calls(const std::vector<std::string>& texts) {
  std::vector<sequence_line> out;
  for (const auto& each : texts) out.push_back({out.size(), 0, each});
  return out;
}

TEST(CallSequence, OfTwoProcessesThatBeganTheOtherWayRoundIsTheSame) {
  const std::vector first = {calls({"init", "export"}), calls({"init", "import"})};
  std::vector second = {calls({"init", "import"}), calls({"init", "export"})};
  match_sequences(first, second);
  for (size_t i = 0; i < first.size(); ++i)
    EXPECT_TRUE(sequence_difference(first[i], second[i]).empty()) << i;
}

TEST(CallSequence, ThatIsAnotherOnesStaysWhereItIs) {
  const std::vector first = {calls({"init", "export"}), calls({"init", "import"})};
  std::vector second = {calls({"init", "export", "close"}), calls({"init", "import"})};
  match_sequences(first, second);
  EXPECT_FALSE(sequence_difference(first[0], second[0]).empty());
  EXPECT_TRUE(sequence_difference(first[1], second[1]).empty());
  second.pop_back();
  match_sequences(first, second);
  EXPECT_EQ(second.size(), 1u);
}

TEST(CallSequence, HasCounterpartsOfTheSameCallsAlsoWhereOthersComeBetween) {
  const auto recorded = calls({"init", "query", "append", "query"});
  auto again = calls({"init", "extra", "query", "query", "append"});
  for (auto& each : again) each.number += 10;
  const std::map<uint64_t, uint64_t> expected = {{0, 10}, {1, 12}, {2, 14}, {3, 13}};
  EXPECT_EQ(counterparts(recorded, again), expected);
  EXPECT_FALSE(counterparts(again, recorded).contains(11));
}

}  // namespace
}  // namespace zevent::repro
