#include <bit>
#include <limits>
#include <numeric>

#include "kernels/sub_group_extensions_spv.h"
#include "kernels/sub_groups_spv.h"
#include "sub_group_fixture.hpp"

namespace zevent::driver::test {
namespace {

class sub_groups : public sub_group_fixture {
 protected:
  ze_kernel_handle_t kernel(const char* name) { return kernel_of(module_of(sub_groups_spv), name); }

  // The ten results of SUB_GROUP_RESULTS, or those of a group.
  template <typename T>
  static void expect_results(const std::vector<std::vector<size_t>>& parts,
                             const std::vector<T>& in, const std::vector<T>& columns,
                             size_t broadcast_from) {
    using limits = std::numeric_limits<T>;
    const T most = limits::has_infinity ? limits::infinity() : limits::max();
    const T least = limits::has_infinity ? -limits::infinity() : limits::lowest();
    const auto add = [](T a, T b) { return static_cast<T>(a + b); };
    const auto smaller = [](T a, T b) { return std::min(a, b); };
    const auto greater = [](T a, T b) { return std::max(a, b); };
    const auto fold = [](const std::vector<T>& values, size_t count, T start, auto&& step) {
      return std::accumulate(values.begin(), values.begin() + static_cast<ptrdiff_t>(count), start,
                             step);
    };
    const auto check = [&](size_t column, const char* what, auto&& oracle) {
      expect_column(parts, in, columns, column, what, oracle);
    };
    using values = std::vector<T>;
    check(0, "sum", [&](const values& v, size_t) { return fold(v, v.size(), T{}, add); });
    check(1, "least", [&](const values& v, size_t) { return fold(v, v.size(), most, smaller); });
    check(2, "greatest",
          [&](const values& v, size_t) { return fold(v, v.size(), least, greater); });
    check(3, "sum so far", [&](const values& v, size_t i) { return fold(v, i + 1, T{}, add); });
    check(4, "least so far",
          [&](const values& v, size_t i) { return fold(v, i + 1, most, smaller); });
    check(5, "greatest so far",
          [&](const values& v, size_t i) { return fold(v, i + 1, least, greater); });
    check(6, "sum before", [&](const values& v, size_t i) { return fold(v, i, T{}, add); });
    check(7, "least before", [&](const values& v, size_t i) { return fold(v, i, most, smaller); });
    check(8, "greatest before",
          [&](const values& v, size_t i) { return fold(v, i, least, greater); });
    check(9, "broadcast", [&](const values& v, size_t i) {
      const size_t from = std::min(broadcast_from, v.size() - 1);
      return broadcast_from < v.size() || broadcast_from == SIZE_MAX ? v[from] : v[i];
    });
  }
};

TEST_F(sub_groups, tell_every_work_item_where_it_is) {
  const auto places = kernel("places");
  for (const cut& each : cuts) {
    const auto found = columns<uint32_t, uint32_t>(places, each, {}, 11);
    const size_t n = each.items();
    const auto groups = each.by_group();
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto count = static_cast<uint32_t>((groups[g].size() + 31) / 32);
      for (uint32_t i = 0; i < groups[g].size(); ++i) {
        const size_t item = groups[g][i];
        const auto rest = static_cast<uint32_t>(groups[g].size() - i / 32 * 32);
        EXPECT_EQ(found[item], std::min(rest, 32u));
        EXPECT_EQ(found[n + item], 32u);
        EXPECT_EQ(found[2 * n + item], count);
        EXPECT_EQ(found[3 * n + item], count);
        EXPECT_EQ(found[4 * n + item], i / 32);
        EXPECT_EQ(found[5 * n + item], i % 32);
        EXPECT_EQ(found[6 * n + item], i);
        const auto& size = each.group_size;
        const auto& number = each.groups;
        const size_t width = size[0] * number[0], height = size[1] * number[1];
        EXPECT_EQ(found[7 * n + item], item % width + 1000 * (item / width % height) +
                                           1000000 * (item / width / height));
        EXPECT_EQ(found[8 * n + item], g % number[0] + 100 * (g / number[0] % number[1]) +
                                           10000 * (g / number[0] / number[1]));
        EXPECT_EQ(found[9 * n + item], size[0] + 100 * size[1] + 10000 * size[2]);
        EXPECT_EQ(found[10 * n + item], number[0] + 100 * number[1] + 10000 * number[2]);
      }
    }
  }
}

TEST_F(sub_groups, reduce_scan_broadcast_and_vote_on_ints) {
  const auto ints = kernel("sub_group_ints");
  for (const cut& each : cuts) {
    const auto in = random_numbers<int32_t>(each.items(), -100, 100);
    const auto out = columns<int32_t, int32_t>(ints, each, in, 12);
    const auto parts = each.by_sub_group(16);
    expect_results(parts, in, out, 2);
    using values = std::vector<int32_t>;
    expect_column(parts, in, out, 10, "all", [](const values& v, size_t) {
      return std::all_of(v.begin(), v.end(), [](int32_t x) { return x > -90; });
    });
    expect_column(parts, in, out, 11, "any", [](const values& v, size_t) {
      return std::any_of(v.begin(), v.end(), [](int32_t x) { return x > 90; });
    });
  }
}

TEST_F(sub_groups, reduce_scan_and_broadcast_longs_and_floats) {
  const auto longs = kernel("sub_group_ulongs");
  const auto floats = kernel("sub_group_floats");
  for (const cut& each : cuts) {
    auto numbers = random_numbers<uint64_t>(each.items(), 0, 1 << 30);
    for (uint64_t& number : numbers) number *= 0x1'0000'0001;
    expect_results(each.by_sub_group(8), numbers,
                   columns<uint64_t, uint64_t>(longs, each, numbers, 10), 2);
    // Whole numbers, whose sums do not depend on the order.
    const auto whole = random_numbers<float>(each.items(), -1000, 1000);
    expect_results(each.by_sub_group(32), whole, columns<float, float>(floats, each, whole, 10), 2);
  }
}

TEST_F(sub_groups, are_not_needed_for_what_whole_groups_do_together) {
  const auto ints = kernel("work_group_ints");
  for (const cut& each : cuts) {
    const auto in = random_numbers<int32_t>(each.items(), -95, 95);
    const auto out = columns<int32_t, int32_t>(ints, each, in, 12);
    const auto parts = each.by_group();
    expect_results(parts, in, out, SIZE_MAX);
    using values = std::vector<int32_t>;
    expect_column(parts, in, out, 10, "all", [](const values& v, size_t) {
      return std::all_of(v.begin(), v.end(), [](int32_t x) { return x > -90; });
    });
    expect_column(parts, in, out, 11, "any", [](const values& v, size_t) {
      return std::any_of(v.begin(), v.end(), [](int32_t x) { return x > 90; });
    });
  }
}

TEST_F(sub_groups, shuffle) {
  const auto shuffles = kernel("shuffles");
  for (const cut& each : cuts) {
    const auto in = random_numbers<int32_t>(each.items(), -100, 100);
    const auto out = columns<int32_t, int32_t>(shuffles, each, in, 9);
    const auto parts = each.by_sub_group(16);
    using values = std::vector<int32_t>;
    // The value of a work-item that is not there is one's own.
    const auto at = [](const values& v, size_t from, size_t own) {
      return v[from < v.size() ? from : own];
    };
    for (const size_t column : {size_t{0}, size_t{4}}) {
      expect_column(parts, in, out, column, "shuffle",
                    [&](const values& v, size_t i) { return v[(i * 7 + 3) % v.size()]; });
      expect_column(parts, in, out, column + 1, "shuffle xor",
                    [&](const values& v, size_t i) { return at(v, i ^ 5, i); });
    }
    expect_column(parts, in, out, 2, "down to the next", [&](const values& v, size_t i) {
      return i + 3 < 16 ? at(v, i + 3, i) : at(v, i + 3 - 16, i) + 1000;
    });
    expect_column(parts, in, out, 3, "up from the previous", [&](const values& v, size_t i) {
      return i >= 3 ? v[i - 3] : at(v, i + 16 - 3, i) + 1000;
    });
    expect_column(parts, in, out, 6, "down",
                  [&](const values& v, size_t i) { return at(v, i + 3, i); });
    expect_column(parts, in, out, 7, "up",
                  [&](const values& v, size_t i) { return at(v, i - 3, i); });
    expect_column(parts, in, out, 8, "vector", [&](const values& v, size_t) { return v[1] + 3; });
  }
}

TEST_F(sub_groups, read_and_write_blocks) {
  const auto blocks = kernel("blocks");
  constexpr uint32_t items = 32, groups = 3, total = items * groups * 4;
  auto* in = shared_memory<uint32_t>(total);
  auto* out = shared_memory<uint32_t>(total);
  auto* shorts = shared_memory<uint16_t>(total / 2);
  for (uint32_t i = 0; i < total; ++i) in[i] = i * i;
  set_all(blocks, in, out, shorts);
  run(blocks, items, groups);
  for (uint32_t i = 0; i < total; ++i) {
    const uint32_t row = i / 8 % 4;
    EXPECT_EQ(out[i], row < 3 ? in[i] + row + 1 : in[i - 24]) << i;
  }
  for (uint32_t i = 0; i < total / 2; ++i) {
    const uint32_t sub_group = i / 16, row = i / 8 % 2;
    EXPECT_EQ(shorts[i], static_cast<uint16_t>(in[sub_group * 32 + (row == 0 ? 0 : 24) + i % 8]));
  }
}

TEST_F(sub_groups, do_without_those_who_take_another_way) {
  const auto odd_ones = kernel("odd_ones");
  for (const cut& each : cuts) {
    const auto in = random_numbers<int32_t>(each.items(), -100, 100);
    const auto out = columns<int32_t, int32_t>(odd_ones, each, in, 14);
    const size_t n = each.items();
    for (const auto& part : each.by_sub_group(32)) {
      const auto sum = [&](auto&& wanted) {
        int32_t total = 0;
        for (size_t i = 0; i < part.size(); ++i) total += wanted(i) ? in[part[i]] : 0;
        return total;
      };
      const auto is_odd = [&](size_t i) { return (in[part[i]] & 1) != 0; };
      bool is_first = true, was_large = false;
      int32_t first = 0, greatest = INT32_MIN, before = 0, both = -1, either = 0;
      uint32_t product = 1;
      bool all = true, any = false, equal = true;
      for (size_t i = 0; i < part.size(); ++i) {
        if (!is_odd(i)) continue;
        if (is_first) first = in[part[i]];
        is_first = false;
        both &= in[part[i]];
        either ^= in[part[i]];
        all = all && in[part[i]] > 0;
        any = any || in[part[i]] > 90;
        equal = equal && in[part[i]] == first;
      }
      is_first = true;
      for (size_t i = 0; i < part.size(); ++i) {
        const size_t item = part[i];
        EXPECT_EQ(out[13 * n + item], sum([](size_t) { return true; }));
        if (!is_odd(i)) {
          EXPECT_EQ(out[item], 0) << "which it did not write";
          continue;
        }
        greatest = std::max(greatest, in[item]);
        was_large = was_large || in[item] > 60;
        EXPECT_EQ(out[item], sum(is_odd));
        EXPECT_EQ(out[n + item], greatest);
        EXPECT_EQ(out[2 * n + item], before);
        EXPECT_EQ(out[3 * n + item], both);
        EXPECT_EQ(out[4 * n + item], either);
        EXPECT_EQ(out[5 * n + item], static_cast<int32_t>(product));
        EXPECT_EQ(out[6 * n + item], sum([&](size_t j) { return is_odd(j) && j / 4 == i / 4; }));
        EXPECT_EQ(out[7 * n + item], is_first ? 1 : 0);
        EXPECT_EQ(out[8 * n + item], all ? 1 : 0);
        EXPECT_EQ(out[9 * n + item], any ? 1 : 0);
        EXPECT_EQ(out[10 * n + item], first);
        EXPECT_EQ(out[11 * n + item], equal ? 1 : 0);
        EXPECT_EQ(out[12 * n + item], was_large ? 1 : 0);
        before += in[item];
        product *= static_cast<uint32_t>(in[item]);
        is_first = false;
      }
    }
  }
}

TEST_F(sub_groups, cast_ballots) {
  const auto ballots = kernel("ballots");
  for (const cut& each : cuts) {
    const auto in = random_numbers<int32_t>(each.items(), -100, 100);
    const auto out = columns<int32_t, uint32_t>(ballots, each, in, 14);
    const auto parts = each.by_sub_group(32);
    using values = std::vector<int32_t>;
    const auto check = [&](size_t column, const char* what, auto&& oracle) {
      expect_column(parts, in, out, column, what, [&](const values& v, size_t i) -> uint32_t {
        uint32_t votes = 0;
        for (size_t j = 0; j < v.size(); ++j) votes |= v[j] > 0 ? 1u << j : 0u;
        return oracle(votes, static_cast<uint32_t>(i));
      });
    };
    const auto below = [](uint32_t i) { return static_cast<uint32_t>((uint64_t{1} << i) - 1); };
    const auto count = [](uint32_t bits) { return static_cast<uint32_t>(std::popcount(bits)); };
    check(0, "votes", [](uint32_t votes, uint32_t) { return votes; });
    check(1, "votes of nobody", [](uint32_t, uint32_t) { return 0u; });
    check(2, "own", [](uint32_t votes, uint32_t i) { return votes >> i & 1; });
    check(3, "fourth", [](uint32_t votes, uint32_t) { return votes >> 3 & 1; });
    check(4, "count", [&](uint32_t votes, uint32_t) { return count(votes); });
    check(5, "so far", [&](uint32_t votes, uint32_t i) { return count(votes & below(i + 1)); });
    check(6, "before", [&](uint32_t votes, uint32_t i) { return count(votes & below(i)); });
    check(9, "equal", [](uint32_t, uint32_t i) { return 1u << i; });
    check(10, "greater or equal", [&](uint32_t, uint32_t i) { return ~below(i); });
    check(11, "greater", [&](uint32_t, uint32_t i) { return ~below(i + 1); });
    check(12, "less or equal", [&](uint32_t, uint32_t i) { return below(i + 1); });
    check(13, "less", [&](uint32_t, uint32_t i) { return below(i); });
    const bool everybody_votes = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
      return std::any_of(part.begin(), part.end(), [&](size_t item) { return in[item] > 0; });
    });
    if (!everybody_votes) continue;  // the least of none is not defined
    check(7, "lowest",
          [](uint32_t votes, uint32_t) { return static_cast<uint32_t>(std::countr_zero(votes)); });
    check(8, "highest", [](uint32_t votes, uint32_t) {
      return 31 - static_cast<uint32_t>(std::countl_zero(votes));
    });
  }
}

TEST_F(sub_groups, have_the_instructions_of_extensions) {
  const auto extensions = kernel_of(module_of(sub_group_extensions_spv), "extensions");
  constexpr uint32_t size = 21;
  auto* out = shared_memory<uint32_t>(size * 11);
  set_all(extensions, out);
  run(extensions, size, 1);
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t lane = i % 8, first = i - lane, count = std::min(size - first, 8u);
    EXPECT_EQ(out[11 * i], 0xaau & ((1u << count) - 1)) << i;
    EXPECT_EQ(out[11 * i + 1], first);
    EXPECT_EQ(out[11 * i + 2], first + 3);
    EXPECT_EQ(out[11 * i + 3], 2u) << "not all, but some";
    EXPECT_EQ(out[11 * i + 4], 0u);
    EXPECT_EQ(out[11 * i + 5], 1u << count / 2);
    EXPECT_EQ(out[11 * i + 6], (lane + 1) / 2 % 2);
    EXPECT_EQ(out[11 * i + 7], i + lane + (1u << count / 2)) << "a vector made of its parts";
    // The value of a work-item that is not there is one's own.
    const auto at = [&](uint32_t other) { return other < count ? first + other : i; };
    EXPECT_EQ(out[11 * i + 8], at((lane + 2) % 8)) << "rotated";
    EXPECT_EQ(out[11 * i + 9], at(lane ^ 3)) << "from the opposite corner";
    EXPECT_EQ(out[11 * i + 10], at(lane / 4 * 4 + 2)) << "from the third of four";
  }
}

TEST_F(sub_groups, have_the_size_that_a_kernel_requires_or_32) {
  const auto module = module_of(sub_groups_spv);
  const auto properties = [&](const char* name) {
    ze_kernel_properties_t found = {};
    found.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    EXPECT_EQ(zeKernelGetProperties(kernel_of(module, name), &found), ZE_RESULT_SUCCESS);
    return found;
  };
  const auto sixteen = properties("sub_group_ints");
  EXPECT_EQ(sixteen.requiredSubgroupSize, 16u);
  EXPECT_EQ(sixteen.maxSubgroupSize, 16u);
  EXPECT_EQ(sixteen.maxNumSubgroups, 64u);
  const auto any = properties("places");
  EXPECT_EQ(any.requiredSubgroupSize, 0u);
  EXPECT_EQ(any.maxSubgroupSize, 32u);
  EXPECT_EQ(any.maxNumSubgroups, 32u);
}

}  // namespace
}  // namespace zevent::driver::test
