#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "model/call_view.hpp"

namespace zevent::model {

// Puts the beginnings and the ends of calls in the order of time. Calls come in the order of their
// start. An end is passed on before the first call that starts after it: handles that one thread
// gave back and another one got at the same moment are then told apart. A sink that has wants_end()
// is asked, after the beginning, whether it wants to hear of the end.
template <typename Sink>  // begin(const call_view&), end(const call_view&)
class call_sequence {
 public:
  explicit call_sequence(Sink& sink) : sink_(sink) {}

  // `next_start_ns`: of the call after this one, UINT64_MAX when there is none or it is not known.
  void add(const call_view& call, uint64_t next_start_ns) {
    pass_ends_until(call.start_ns);
    sink_.begin(call);
    if (!call.did_return) return;
    if constexpr (requires { sink_.wants_end(call); }) {
      if (!sink_.wants_end(call)) return;
    }
    if (under_way_.empty() && call.end_ns <= next_start_ns) return sink_.end(call);
    keep(call);
  }

  void finish() { pass_ends_until(UINT64_MAX); }

 private:
  void keep(const call_view& call) {
    auto copy = spare_.empty() ? std::make_unique<call_view>() : std::move(spare_.back());
    if (!spare_.empty()) spare_.pop_back();
    *copy = call;
    // Seldom more of them than there are threads.
    auto place = under_way_.end();
    while (place != under_way_.begin() && (*std::prev(place))->end_ns <= call.end_ns) --place;
    under_way_.insert(place, std::move(copy));
  }

  void pass_ends_until(uint64_t time_ns) {
    while (!under_way_.empty() && under_way_.back()->end_ns <= time_ns) {
      auto ended = std::move(under_way_.back());
      under_way_.pop_back();
      sink_.end(*ended);
      spare_.push_back(std::move(ended));
    }
  }

  Sink& sink_;
  // The first to end is the last here; of those that end together, the one that began first.
  std::vector<std::unique_ptr<call_view>> under_way_;
  std::vector<std::unique_ptr<call_view>> spare_;
};

}  // namespace zevent::model
