#include "base/quirks.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace zevent {
namespace {

TEST(quirks, table_is_sorted_and_its_positions_are_the_ids) {
  const auto all = quirk_descriptions();
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(all[i].id), i) << all[i].name;
    EXPECT_FALSE(all[i].specification.empty()) << all[i].name;
    EXPECT_FALSE(all[i].behaviour.empty()) << all[i].name;
    if (all[i].first && all[i].last) {
      EXPECT_LE(*all[i].first, *all[i].last) << all[i].name;
    }
    if (i > 0) {
      EXPECT_LT(all[i - 1].name, all[i].name);
    }
  }
}

TEST(quirks, empty_text_switches_nothing_on) {
  const auto set = parse_quirks("");
  ASSERT_TRUE(set);
  EXPECT_TRUE(set->empty());
}

TEST(quirks, single_ones_are_read_by_name) {
  const auto set = parse_quirks("no-counter-maximum,accepts-null-context");
  ASSERT_TRUE(set) << set.error().message;
  for (const auto& each : quirk_descriptions()) {
    const bool named =
        each.id == quirk::no_counter_maximum || each.id == quirk::accepts_null_context;
    EXPECT_EQ(set->has(each.id), named) << each.name;
  }
}

TEST(quirks, a_release_stands_for_all_that_it_has) {
  const auto set = parse_quirks("intel-26.27");
  ASSERT_TRUE(set) << set.error().message;
  for (const auto& each : quirk_descriptions()) EXPECT_TRUE(set->has(each.id)) << each.name;
}

TEST(quirks, other_releases_have_those_whose_range_contains_them) {
  const auto has = [](const char* release, quirk which) {
    return parse_quirks(release).value().has(which);
  };
  EXPECT_FALSE(has("intel-24.22", quirk::reset_keeps_counter_mode));
  EXPECT_TRUE(has("intel-24.26", quirk::reset_keeps_counter_mode));
  EXPECT_TRUE(has("intel-25.05", quirk::reset_keeps_counter_mode));
  EXPECT_FALSE(has("intel-26.31", quirk::reset_keeps_counter_mode));
  EXPECT_TRUE(has("intel-26.31", quirk::unsignalled_counter_wait_refused));
  EXPECT_FALSE(has("intel-26.35", quirk::unsignalled_counter_wait_refused));
  EXPECT_TRUE(has("intel-20.01", quirk::no_event_pool_put_ipc_handle));
  EXPECT_TRUE(has("intel-30.01", quirk::crash_on_null_handle));
}

TEST(quirks, releases_and_single_ones_add_up) {
  const auto set = parse_quirks("intel-26.31,reset-keeps-counter-mode");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_TRUE(set->has(quirk::reset_keeps_counter_mode));
  EXPECT_TRUE(set->has(quirk::crash_on_null_handle));
  EXPECT_FALSE(set->has(quirk::no_event_pool_put_ipc_handle));
}

TEST(quirks, unknown_name_is_an_error_that_lists_the_names) {
  const auto set = parse_quirks("accepts-everything");
  ASSERT_FALSE(set);
  for (const auto& each : quirk_descriptions())
    EXPECT_NE(set.error().message.find(each.name), std::string::npos) << each.name;
}

TEST(quirks, what_is_no_release_is_an_error) {
  for (const char* bad :
       {"intel-", "intel-26", "intel-26.", "intel-26.27.39122", "intel-2026.27", "intel-26.7",
        "intel-26.00", "intel-26.54", "intel--1.27", "intel-26.2x", "26.27", ",", "intel-26.27,,"})
    EXPECT_FALSE(parse_quirks(bad)) << bad;
}

TEST(quirks, the_build_number_of_a_library_tells_its_release) {
  const auto release = [](const char* path) { return release_of_library(path); };
  EXPECT_EQ(release("/usr/lib/libze_intel_gpu.so.1.16.39122"), (intel_release{26, 27}));
  EXPECT_EQ(release("libze_intel_gpu.so.1.16.39394"), (intel_release{26, 27})) << "not yet 26.31";
  EXPECT_EQ(release("libze_intel_gpu.so.1.6.33578"), (intel_release{25, 18}));
  EXPECT_EQ(release("libze_intel_gpu.so.1.18.60000"), (intel_release{26, 31})) << "or newer";
  for (const char* unknown : {"libze_intel_gpu.so.1.3.28453", "libze_intel_gpu.so.1",
                              "/opt/1.16.39122/libze_intel_gpu.so", "39122x", ""})
    EXPECT_EQ(release(unknown), std::nullopt) << unknown;
  EXPECT_EQ(to_string(intel_release{25, 5}), "25.05");
}

TEST(quirks, documentation_is_what_the_table_says) {
  std::ifstream file(ZEVENT_SOURCE_DIR "/docs/quirks.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), quirks_as_markdown())
      << "write it again: build/bin/zevent run --list-quirks=markdown > docs/quirks.md";
}

}  // namespace
}  // namespace zevent
