#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "trace/call.hpp"

// The one small language in which every verb says which calls it is about.
//
//   any     := all { "or" all }
//   all     := one { "and" one }
//   one     := "not" one | "(" any ")" | condition
//
// The conditions are listed by filter_conditions().
namespace zevent::trace {

struct filter_condition {
  std::string_view form;     // as it is written: "thread N"
  std::string_view meaning;  // "calls of that thread"
};

// Every condition, for help texts and documentation.
std::span<const filter_condition> filter_conditions();

// What words of a filter are looked up in.
struct filter_names {
  std::vector<std::string> functions;                                     // by function index
  std::vector<uint32_t> process_of_thread;                                // by thread index
  std::function<std::optional<uint32_t>(std::string_view)> result_named;  // "NOT_READY" → 1
};

class call_filter {
 public:
  // The failure's message has three lines: what is wrong, the text, and a caret below the place.
  static result<call_filter> compile(std::string_view text, const filter_names& names);
  // Lets every call pass.
  call_filter();
  ~call_filter();
  call_filter(const call_filter&);
  call_filter(call_filter&&) noexcept;
  call_filter& operator=(const call_filter&);
  call_filter& operator=(call_filter&&) noexcept;

  bool matches(const call& each) const;

  // Whether every call passes because there is no condition.
  bool is_empty() const { return root_ == nullptr; }

  // No call outside of [first, last] matches: whoever reads calls by number may skip the others.
  struct number_range {
    uint64_t first = 0;
    uint64_t last = UINT64_MAX;
  };
  number_range numbers() const;

  struct node;

 private:
  std::shared_ptr<const node> root_;  // null: everything
};

// True where `name` is matched by `pattern`, in which * stands for any characters and ? for one.
bool matches_glob(std::string_view name, std::string_view pattern);

// "1.5ms" → 1'500'000. A number and ns, us, ms or s; nothing else.
std::optional<uint64_t> parse_duration_ns(std::string_view text);

}  // namespace zevent::trace
