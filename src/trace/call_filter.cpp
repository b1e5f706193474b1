#include "trace/call_filter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <variant>

namespace zevent::trace {
namespace {

constexpr std::array conditions = {
    filter_condition{"17", "call number 17"},
    filter_condition{"100-200", "calls 100 to 200; 100- goes to the end"},
    filter_condition{"zeEvent*", "functions by name; * stands for any characters, ? for one"},
    filter_condition{"append", "functions that append a command to a list"},
    filter_condition{"create", "functions that make an object or memory"},
    filter_condition{"destroy", "functions that end an object or memory"},
    filter_condition{"query", "functions that ask for a status or a value and do not wait"},
    filter_condition{"wait", "functions that wait on the host"},
    filter_condition{"failed", "calls that returned an error"},
    filter_condition{"unreturned", "calls that had not returned when the recording ended"},
    filter_condition{"injected", "calls that a tool made, not the program"},
    filter_condition{">1ms", "calls that took longer; also >=, <, <= and ns, us, ms, s"},
    filter_condition{"after 2s", "calls that began later than that, since the first call"},
    filter_condition{"before 2s", "calls that began earlier than that"},
    filter_condition{"thread 2", "calls of that thread"},
    filter_condition{"process 1", "calls of that process"},
    filter_condition{"result NOT_READY", "calls with that result"},
};

struct function_group {
  std::string_view word;
  std::array<std::string_view, 4> patterns;
};

constexpr std::array function_groups = {
    function_group{"append", {"*Append*"}},
    function_group{"create", {"*Create*", "*Alloc*", "*Open*", "*Clone*"}},
    function_group{"destroy", {"*Destroy*", "*Free*", "*Close?*Handle*"}},
    function_group{"query", {"*Query*", "*GetStatus*"}},
    function_group{"wait", {"*Synchronize*", "zes*EventListen*"}},
};

// Parentheses and "not" may be nested so deep; a filter is written by a person.
constexpr unsigned deepest_nesting = 64;

}  // namespace

bool matches_glob(std::string_view name, std::string_view pattern) {
  // Where the last * stood, and how much of the name it has taken: on a mismatch it takes one more.
  size_t n = 0, p = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++n, ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::optional<uint64_t> parse_duration_ns(std::string_view text) {
  double value = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(rest, static_cast<size_t>(text.data() + text.size() - rest));
  constexpr std::pair<std::string_view, double> units[] = {
      {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (const auto& [name, scale] : units) {
    const double scaled = std::round(value * scale);
    if (name == unit && scaled >= 0 && scaled < 9e18) return static_cast<uint64_t>(scaled);
  }
  return std::nullopt;
}

std::span<const filter_condition> filter_conditions() {
  return conditions;
}

struct call_filter::node {
  using child = std::shared_ptr<const node>;
  struct all_of {
    std::vector<child> parts;
  };
  struct any_of {
    std::vector<child> parts;
  };
  struct none_of {
    child part;
  };
  struct number_between {
    uint64_t first, last;
  };
  struct function_in {
    std::vector<bool> members;
  };
  struct duration_between {
    uint64_t least_ns, most_ns;
  };
  struct start_between {
    uint64_t least_ns, most_ns;
  };
  struct thread_in {
    std::vector<bool> members;
  };
  struct result_is {
    uint32_t value;
  };
  struct failed {};
  struct unreturned {};
  struct injected {};

  std::variant<all_of, any_of, none_of, number_between, function_in, duration_between,
               start_between, thread_in, result_is, failed, unreturned, injected>
      is;

  bool matches(const call& each) const {
    return std::visit([&](const auto& kind) { return matches(kind, each); }, is);
  }
  static bool matches(const all_of& kind, const call& each) {
    return std::all_of(kind.parts.begin(), kind.parts.end(),
                       [&](const child& part) { return part->matches(each); });
  }
  static bool matches(const any_of& kind, const call& each) {
    return std::any_of(kind.parts.begin(), kind.parts.end(),
                       [&](const child& part) { return part->matches(each); });
  }
  static bool matches(const none_of& kind, const call& each) { return !kind.part->matches(each); }
  static bool matches(const number_between& kind, const call& each) {
    return number_of(each.number) >= kind.first && number_of(each.number) <= kind.last;
  }
  static bool matches(const function_in& kind, const call& each) {
    return each.function < kind.members.size() && kind.members[each.function];
  }
  static bool matches(const duration_between& kind, const call& each) {
    return each.returned() && each.duration_ns >= kind.least_ns && each.duration_ns <= kind.most_ns;
  }
  static bool matches(const start_between& kind, const call& each) {
    return each.start_ns >= kind.least_ns && each.start_ns <= kind.most_ns;
  }
  static bool matches(const thread_in& kind, const call& each) {
    return each.thread < kind.members.size() && kind.members[each.thread];
  }
  static bool matches(const result_is& kind, const call& each) {
    return each.returned() && each.result == kind.value;
  }
  static bool matches(failed, const call& each) { return each.failed(); }
  static bool matches(unreturned, const call& each) { return !each.returned(); }
  static bool matches(injected, const call& each) { return each.injected(); }

  number_range numbers() const {
    number_range range;
    if (const auto* between = std::get_if<number_between>(&is))
      return {between->first, between->last};
    if (const auto* all = std::get_if<all_of>(&is)) {
      for (const auto& part : all->parts) {
        const auto narrower = part->numbers();
        range.first = std::max(range.first, narrower.first);
        range.last = std::min(range.last, narrower.last);
      }
    } else if (const auto* any = std::get_if<any_of>(&is)) {
      range = {UINT64_MAX, 0};
      for (const auto& part : any->parts) {
        const auto other = part->numbers();
        range.first = std::min(range.first, other.first);
        range.last = std::max(range.last, other.last);
      }
    }
    return range;
  }
};

namespace {

using node = call_filter::node;

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

class parser {
 public:
  parser(std::string_view text, const filter_names& names) : text_(text), names_(names) {
    advance();
  }

  result<node::child> parse() {
    auto root = any();
    if (root && !word_.empty()) return error("expected 'and' or 'or' before '{}'", word_);
    return root;
  }

 private:
  std::string_view text_;
  const filter_names& names_;
  std::string_view word_;  // the one to be looked at; empty at the end
  size_t place_ = 0;       // of word_
  unsigned depth_ = 0;

  template <typename Kind>
  static node::child make(Kind kind) {
    return std::make_shared<const node>(node{std::move(kind)});
  }

  template <typename... Args>
  tl::unexpected<failure> error(fmt::format_string<Args...> format, Args&&... args) const {
    // The caret counts characters as a terminal does: continuation bytes of UTF-8 take no room.
    const auto before = text_.substr(0, place_);
    const auto columns = std::count_if(before.begin(), before.end(), [](char each) {
      return (static_cast<unsigned char>(each) & 0xc0) != 0x80;
    });
    return fail("{}\n  {}\n  {:>{}}", fmt::format(format, std::forward<Args>(args)...), text_, '^',
                columns + 1);
  }

  static bool is_space(char each) { return each == ' ' || each == '\t' || each == '\n'; }

  void advance() {
    size_t begin = place_ + word_.size();
    while (begin < text_.size() && is_space(text_[begin])) ++begin;
    size_t end = begin;
    if (end < text_.size() && (text_[end] == '(' || text_[end] == ')')) {
      ++end;
    } else if (end < text_.size() && (text_[end] == '<' || text_[end] == '>')) {
      ++end;
      if (end < text_.size() && text_[end] == '=') ++end;
    } else {
      while (end < text_.size() && !is_space(text_[end]) &&
             std::string_view("()<>").find(text_[end]) == std::string_view::npos)
        ++end;
    }
    place_ = begin;
    word_ = text_.substr(begin, end - begin);
  }

  result<node::child> any() {
    auto first = all();
    if (!first || word_ != "or") return first;
    node::any_of alternatives{{std::move(*first)}};
    while (word_ == "or") {
      advance();
      auto next = all();
      if (!next) return next;
      alternatives.parts.push_back(std::move(*next));
    }
    return make(std::move(alternatives));
  }

  result<node::child> all() {
    auto first = one();
    if (!first || word_ != "and") return first;
    node::all_of parts{{std::move(*first)}};
    while (word_ == "and") {
      advance();
      auto next = one();
      if (!next) return next;
      parts.parts.push_back(std::move(*next));
    }
    return make(std::move(parts));
  }

  result<node::child> one() {
    if (depth_ >= deepest_nesting) return error("this is nested too deep");
    ++depth_;
    auto parsed = word_ == "not" ? negation() : word_ == "(" ? group() : condition();
    --depth_;
    return parsed;
  }

  result<node::child> negation() {
    advance();
    auto part = one();
    if (!part) return part;
    return make(node::none_of{std::move(*part)});
  }

  result<node::child> group() {
    const size_t opened = place_;
    advance();
    auto inner = any();
    if (!inner) return inner;
    if (word_ != ")") {
      if (!word_.empty()) return error("expected 'and', 'or' or ')' before '{}'", word_);
      place_ = opened;
      return error("this parenthesis is never closed");
    }
    advance();
    return inner;
  }

  result<node::child> condition() {
    if (word_.empty()) return error("the filter ends where a condition is expected");
    if (word_ == ")" || word_ == "and" || word_ == "or")
      return error("expected a condition before '{}'", word_);
    if (word_.front() == '<' || word_.front() == '>') return duration();
    if (word_ == "thread" || word_ == "process") return thread_or_process();
    if (word_ == "after" || word_ == "before") return start();
    if (word_ == "result") return call_result();
    auto parsed = plain_word();
    if (parsed) advance();
    return parsed;
  }

  result<node::child> plain_word() const {
    if (word_ == "failed") return make(node::failed{});
    if (word_ == "unreturned") return make(node::unreturned{});
    if (word_ == "injected") return make(node::injected{});
    for (const auto& group : function_groups)
      if (group.word == word_) return make(functions_matching(group.patterns));
    if (word_.front() >= '0' && word_.front() <= '9') return numbers();
    return functions();
  }

  node::function_in functions_matching(std::span<const std::string_view> patterns) const {
    node::function_in found;
    for (const auto& name : names_.functions)
      found.members.push_back(
          std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
            return !pattern.empty() && matches_glob(name, pattern);
          }));
    return found;
  }

  result<node::child> functions() const {
    auto found = functions_matching(std::span(&word_, 1));
    if (std::find(found.members.begin(), found.members.end(), true) != found.members.end())
      return make(std::move(found));
    if (word_.find_first_of("*?") != std::string_view::npos)
      return error("no function matches '{}'", word_);
    const auto similar = most_similar();
    if (similar.empty()) return error("'{}' is neither a condition nor a function", word_);
    return error("'{}' is neither a condition nor a function; did you mean '{}'?", word_, similar);
  }

  std::string most_similar() const {
    std::string best;
    size_t best_distance = std::max<size_t>(2, word_.size() / 4) + 1;
    const auto consider = [&](std::string_view candidate) {
      const size_t distance = edit_distance(word_, candidate);
      if (distance >= best_distance) return;
      best_distance = distance;
      best = candidate;
    };
    // Those that are words; numbers and durations are only examples.
    for (const auto& condition : conditions)
      if (condition.form.front() >= 'a' && condition.form.front() <= 'z')
        consider(condition.form.substr(0, condition.form.find(' ')));
    for (const auto& name : names_.functions) consider(name);
    return best;
  }

  static std::optional<uint64_t> whole_number(std::string_view text) {
    uint64_t value = 0;
    const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || rest != text.data() + text.size()) return std::nullopt;
    return value;
  }

  result<node::child> numbers() const {
    const auto dash = word_.find('-');
    const auto first = whole_number(word_.substr(0, dash));
    std::optional<uint64_t> last = first;
    if (dash != std::string_view::npos)
      last = dash + 1 == word_.size() ? UINT64_MAX : whole_number(word_.substr(dash + 1));
    if (!first || !last)
      return error("'{}' is not a call number like 17 or a range like 100-200", word_);
    if (*first > *last) return error("this range ends before it begins");
    return make(node::number_between{*first, *last});
  }

  result<node::child> duration() {
    const auto comparison = word_;
    advance();
    const auto limit = parse_duration_ns(word_);
    if (!limit) return error("expected a duration like 100us or 1.5ms after '{}'", comparison);
    advance();
    const bool inclusive = comparison.ends_with('=');
    if (comparison.front() == '>')
      return make(node::duration_between{inclusive ? *limit : *limit + 1, UINT64_MAX});
    if (*limit == 0 && !inclusive) return make(node::any_of{});
    return make(node::duration_between{0, inclusive ? *limit : *limit - 1});
  }

  result<node::child> start() {
    const auto side = word_;
    advance();
    const auto limit = parse_duration_ns(word_);
    if (!limit) return error("expected a time like 250ms or 2s after '{}'", side);
    advance();
    if (side == "after") return make(node::start_between{*limit + 1, UINT64_MAX});
    if (*limit == 0) return make(node::any_of{});
    return make(node::start_between{0, *limit - 1});
  }

  // Threads and processes are counted from 1.
  result<node::child> thread_or_process() {
    const auto kind = word_;
    advance();
    const auto wanted = whole_number(word_);
    if (!wanted) return error("expected a number after '{}'", kind);
    node::thread_in found;
    const auto& processes = names_.process_of_thread;
    for (size_t i = 0; i < processes.size(); ++i)
      found.members.push_back((kind == "thread" ? i : processes[i]) + 1 == *wanted);
    if (std::find(found.members.begin(), found.members.end(), true) == found.members.end())
      return error("there is no {} {} in this trace", kind, *wanted);
    advance();
    return make(std::move(found));
  }

  result<node::child> call_result() {
    advance();
    if (word_.empty()) return error("expected the name of a result after 'result'");
    const auto value = names_.result_named(word_);
    if (!value) return error("there is no result '{}'", word_);
    advance();
    return make(node::result_is{*value});
  }
};

}  // namespace

call_filter::call_filter() = default;
call_filter::~call_filter() = default;
call_filter::call_filter(const call_filter&) = default;
call_filter::call_filter(call_filter&&) noexcept = default;
call_filter& call_filter::operator=(const call_filter&) = default;
call_filter& call_filter::operator=(call_filter&&) noexcept = default;

result<call_filter> call_filter::compile(std::string_view text, const filter_names& names) {
  auto root = parser(text, names).parse();
  if (!root) return tl::unexpected(root.error());
  call_filter filter;
  filter.root_ = std::move(*root);
  return filter;
}

bool call_filter::matches(const call& each) const {
  return !root_ || root_->matches(each);
}

call_filter::number_range call_filter::numbers() const {
  return root_ ? root_->numbers() : number_range{};
}

}  // namespace zevent::trace
