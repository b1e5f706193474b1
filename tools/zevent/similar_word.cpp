#include "similar_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace zevent::tool {
namespace {

// How many characters are to be inserted, removed, replaced or exchanged with their neighbour.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  constexpr size_t longest_word = 40;
  word = word.substr(0, word.find('='));
  if (word.size() > longest_word) return "";
  const std::string* closest = nullptr;
  size_t best = std::min<size_t>(2, word.size() / 2) + 1;
  for (const auto& each : known) {
    const size_t distance = edit_distance(word, each);
    if (distance >= best) continue;
    best = distance;
    closest = &each;
  }
  return closest != nullptr ? fmt::format(" (did you mean '{}'?)", *closest) : "";
}

}  // namespace zevent::tool
