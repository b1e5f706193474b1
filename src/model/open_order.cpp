#include "model/open_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/process_calls.hpp"
#include "model/process_model.hpp"

namespace zevent::model {
namespace {

using trace::number_of;

bool is_copy_or_fill(function which) {
  using enum function;
  return which == zeCommandListAppendMemoryCopy || which == zeCommandListAppendMemoryCopyRegion ||
         which == zeCommandListAppendMemoryFill;
}

std::string name_of(const stream& which, const object_name& name) {
  return name(which.is_queue ? object_kind::command_queue : object_kind::command_list,
              which.handle);
}

// Listens to the model of one process.
class order_search final : public listener {
 public:
  order_search(const trace::trace_file& trace, uint32_t process, size_t most)
      : trace_(trace), process_(process), most_(most), state_(*this) {}

  open_order run_all() {
    tell_calls_of(trace_, process_, *this);
    std::erase_if(out_.waits, [&](const early_wait& each) { return overwritten(each); });
    return std::move(out_);
  }

  void begin(const call_view& call) {
    now_ns_ = call.start_ns;
    if (call.which == function::zeEventHostReset)
      if (event* which = state_.events.find_alive(call[argument::hEvent]))
        look_at_reset(*which, call.number);
    state_.begin(call);
  }

  void end(const call_view& call) {
    state_.end(call);
    const bool waits = call.which == function::zeEventHostSynchronize ||
                       call.which == function::zeEventQueryStatus;
    if (!waits || !call.succeeded()) return;
    if (event* which = state_.events.find_alive(call[argument::hEvent]))
      if (!which->counter_based) look_for_rest(*which, call.number);
  }

  void starting(const run& about_to) override {
    for (const auto& each : about_to.what->accesses)
      if (each.writes && !each.region.empty())
        writes_.push_back(
            {about_to.submitted, {each.region.first, each.region.end() - each.region.first}});
  }

  void conflicts(const access_map::conflict& found) override {
    if (found.ordered) return;
    const run& a = found.earlier;
    const run& b = found.later;
    if (!told_.emplace(a.what->call, b.what->call).second) return;
    if (out_.pairs.size() >= most_) {
      out_.complete = false;
      return;
    }
    const auto name = names();
    open_pair pair;
    pair.first = a.what->call;
    pair.second = b.what->call;
    pair.first_submitted = a.submitted;
    pair.second_submitted = b.submitted;
    pair.first_stream = a.where->handle;
    pair.first_is_on_queue = a.where->is_queue;
    pair.second_stream = b.where->handle;
    pair.second_is_on_queue = b.where->is_queue;
    pair.second_list = b.what->list->handle;
    pair.in_one_list =
        a.where == b.where && a.what->list == b.what->list && a.execution == b.execution;
    pair.where = found.where;
    pair.certain = found.earlier_access.certain && found.later_access.certain;
    pair.reason = why_unordered(a, b, name);
    pair.first_does = access_text(found.earlier_access, found.where);
    pair.second_does = access_text(found.later_access, found.where);
    out_.pairs.push_back(std::move(pair));
  }

 private:
  struct noted_write {
    call_number submitted{};
    byte_range where;
  };

  object_name names() const {
    return [this](object_kind kind, uint64_t handle) {
      const auto& objects = trace_.objects();
      std::optional<trace::object_id> found;
      if (kind == object_kind::memory) {
        found = objects.find_memory(process_, handle, now_ns_);
      } else {
        const std::string_view type = kind == object_kind::event ? "ze_event_handle_t"
                                      : kind == object_kind::command_queue
                                          ? "ze_command_queue_handle_t"
                                          : "ze_command_list_handle_t";
        found = objects.find({process_, trace::class_named(trace_.model(), type), handle}, now_ns_);
      }
      return found ? objects.name(*found, trace_.model()) : fmt::format("{:#x}", handle);
    };
  }

  std::string access_text(const memory_access& access, const byte_range& where) const {
    const char* does = access.writes ? "writes" : "reads";
    const auto* memory = state_.find_memory(where.first);
    if (memory == nullptr) return fmt::format("{} {} bytes of host memory", does, where.bytes);
    const std::string name = names()(object_kind::memory, memory->handle);
    if (!access.certain) return fmt::format("was given a pointer into {}", name);
    return fmt::format("{} {} from byte {} to {}", does, name, where.first - memory->handle,
                       where.end() - memory->handle);
  }

  // Commands of the same kind that the wait for the event does not cover: appended before the one
  // that signals it, without a signal of their own, or signalling the same event.
  void look_for_rest(const event& which, call_number waited) {
    const std::vector<ref<run>> signals = which.signals;
    std::set<const stream*> seen;
    for (const auto& signal : signals) {
      if (!is_copy_or_fill(signal->what->which) || !seen.insert(signal->where.get()).second)
        continue;
      for (const auto& each : signal->where->runs) look_at_rest(*each, *signal, which, waited);
    }
  }

  void look_at_rest(const run& rest, const run& signal, const event& which, call_number waited) {
    if (&rest == &signal || complete(rest) || !rest.started) return;
    if (rest.what->which != signal.what->which) return;
    const bool signals_too = rest.what->signal && rest.what->signal.get() == &which;
    if (!signals_too && (rest.what->signal || rest.at > signal.at)) return;
    if (signals_too && rest.at < signal.at) return;
    for (const auto& access : rest.what->accesses) {
      if (!access.writes || !access.certain || access.region.empty()) continue;
      if (out_.waits.size() >= most_) {
        out_.complete = false;
        return;
      }
      const byte_range written{access.region.first, access.region.end() - access.region.first};
      out_.waits.push_back({rest.what->call, written, signal.what->call, waited,
                            access_text(access, written),
                            names()(object_kind::event, which.handle)});
    }
  }

  // As rule EV-11 has it.
  void look_at_reset(const event& which, call_number reset) {
    if (which.counter_based || !which.signalled()) return;
    for (const auto& use : which.uses) {
      if (use.role == event_role::resets || !use.who->started || complete(*use.who)) continue;
      const run& user = *use.who;
      if (!told_.emplace(user.what->call, reset).second) continue;
      if (out_.pairs.size() >= most_) {
        out_.complete = false;
        return;
      }
      const auto name = names();
      const std::string event_name = name(object_kind::event, which.handle);
      open_pair pair;
      pair.first = user.what->call;
      pair.second = reset;
      pair.first_submitted = user.submitted;
      pair.second_submitted = reset;
      pair.first_stream = user.where->handle;
      pair.first_is_on_queue = user.where->is_queue;
      pair.is_reset = true;
      pair.reason = fmt::format("the host does not wait for {} before it resets {}",
                                name_of(*user.where, name), event_name);
      pair.first_does = fmt::format(
          "{} {}", use.role == event_role::signals ? "signals" : "waits for", event_name);
      pair.second_does = "resets it";
      out_.pairs.push_back(std::move(pair));
    }
  }

  bool overwritten(const early_wait& wait) const {
    return std::any_of(writes_.begin(), writes_.end(), [&](const noted_write& each) {
      return each.submitted > wait.waited && each.where.first < wait.written.end() &&
             wait.written.first < each.where.end();
    });
  }

  const trace::trace_file& trace_;
  uint32_t process_;
  size_t most_;
  process_model state_;
  uint64_t now_ns_ = 0;
  std::set<std::pair<call_number, call_number>> told_;
  std::vector<noted_write> writes_;
  open_order out_;
};

}  // namespace

std::string why_unordered(const run& first, const run& second, const object_name& name) {
  if (first.where == second.where) {
    if (first.what->list == second.what->list && first.execution == second.execution)
      return fmt::format("{} is not in-order, so #{} may start before #{} is complete",
                         name(object_kind::command_list, first.what->list->handle),
                         number_of(second.what->call), number_of(first.what->call));
    return fmt::format(
        "{} starts lists one after the other, but does not wait for one before it "
        "starts the next",
        name_of(*first.where, name));
  }
  return fmt::format("they are on {} and {}, and neither waits for an event of the other",
                     name_of(*first.where, name), name_of(*second.where, name));
}

open_order find_open_order(const trace::trace_file& trace, uint32_t process, size_t most) {
  return order_search(trace, process, most).run_all();
}

}  // namespace zevent::model
