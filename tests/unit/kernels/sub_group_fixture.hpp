#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "kernel_fixture.hpp"

namespace zevent::driver::test {

// How a launch is cut into groups and these into sub-groups.
struct cut {
  std::array<uint32_t, 3> group_size;
  std::array<uint32_t, 3> groups;

  size_t group_items() const { return size_t{group_size[0]} * group_size[1] * group_size[2]; }
  size_t items() const { return group_items() * groups[0] * groups[1] * groups[2]; }

  // The linear global ids of the work-items of every group, in the order of their local ids.
  std::vector<std::vector<size_t>> by_group() const {
    std::vector<std::vector<size_t>> all;
    const auto global = [&](size_t axis) { return size_t{group_size[axis]} * groups[axis]; };
    for (size_t g = 0; g < size_t{groups[0]} * groups[1] * groups[2]; ++g) {
      const std::array<size_t, 3> group = {g % groups[0], g / groups[0] % groups[1],
                                           g / groups[0] / groups[1]};
      auto& members = all.emplace_back();
      for (size_t i = 0; i < group_items(); ++i) {
        const size_t x = i % group_size[0] + group[0] * group_size[0];
        const size_t y = i / group_size[0] % group_size[1] + group[1] * group_size[1];
        const size_t z = i / group_size[0] / group_size[1] + group[2] * group_size[2];
        members.push_back((z * global(1) + y) * global(0) + x);
      }
    }
    return all;
  }

  std::vector<std::vector<size_t>> by_sub_group(size_t size) const {
    std::vector<std::vector<size_t>> all;
    for (const auto& group : by_group()) {
      for (size_t first = 0; first < group.size(); first += size) {
        const size_t last = std::min(first + size, group.size());
        all.emplace_back(group.begin() + static_cast<ptrdiff_t>(first),
                         group.begin() + static_cast<ptrdiff_t>(last));
      }
    }
    return all;
  }
};

// Whole sub-groups, a last one that is smaller, less than one, and groups of more dimensions.
inline const std::vector<cut> cuts = {
    {{64, 1, 1}, {3, 1, 1}}, {{40, 1, 1}, {2, 1, 1}}, {{5, 1, 1}, {2, 1, 1}},
    {{8, 6, 1}, {2, 3, 1}},  {{3, 5, 7}, {2, 1, 2}},
};

class sub_group_fixture : public kernel_fixture {
 protected:
  // Launches with these arguments after `in` and `out`, and returns the columns of `out`.
  template <typename In, typename Out, typename... More>
  std::vector<Out> columns(ze_kernel_handle_t kernel, const cut& shape, const std::vector<In>& in,
                           size_t count, const More&... more) {
    auto* input = shared_memory<In>(std::max<size_t>(in.size(), 1));
    auto* output = shared_memory<Out>(shape.items() * count);
    std::copy(in.begin(), in.end(), input);
    std::fill_n(output, shape.items() * count, Out{});
    uint32_t index = 0;
    if (!in.empty()) set(kernel, index++, input);
    set(kernel, index++, output);
    (set(kernel, index++, more), ...);
    const auto& size = shape.group_size;
    EXPECT_EQ(zeKernelSetGroupSize(kernel, size[0], size[1], size[2]), ZE_RESULT_SUCCESS);
    run(kernel, ze_group_count_t{shape.groups[0], shape.groups[1], shape.groups[2]});
    return {output, output + shape.items() * count};
  }

  template <typename T>
  static std::vector<T> random_numbers(size_t count, int least, int greatest) {
    std::mt19937 generator(static_cast<uint32_t>(count));
    std::uniform_int_distribution<int> any(least, greatest);
    std::vector<T> numbers(count);
    for (T& each : numbers) each = static_cast<T>(any(generator));
    return numbers;
  }

  // Expects of column `column` what the oracle says for every member of every part: it is given the
  // values of the part and the place of the member in it.
  template <typename In, typename Out, typename Oracle>
  static void expect_column(const std::vector<std::vector<size_t>>& parts,
                            const std::vector<In>& in, const std::vector<Out>& columns,
                            size_t column, const char* what, Oracle&& oracle) {
    for (const auto& part : parts) {
      std::vector<In> values;
      for (const size_t each : part) values.push_back(in[each]);
      for (size_t i = 0; i < part.size(); ++i) {
        ASSERT_EQ(columns[column * in.size() + part[i]], static_cast<Out>(oracle(values, i)))
            << what << " of member " << i << " of " << part.size() << ", work-item " << part[i];
      }
    }
  }
};

}  // namespace zevent::driver::test
