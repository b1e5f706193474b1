#include "driver/recording.hpp"

#include "base/checked_cast.hpp"
#include "base/invariant.hpp"
#include "driver/event.hpp"

namespace zevent::driver {

namespace {

// Of a clone: no number was issued for any of its runs.
constexpr uint64_t no_run = UINT64_MAX;

}  // namespace

recording::recording(const recording& source, ref<in_order_counter> counter, uint64_t runs)
    : in_order_(source.in_order_),
      counter_(std::move(counter)),
      commands_(source.commands_),
      runs_(runs) {}

void recording::add(std::unique_ptr<command> work, event* signalled) {
  const size_t position = commands_.size();
  command_links links = std::move(work->links_);
  commands_.push_back({std::move(work), std::move(links)});
  if (signalled != nullptr) bind_signal(position, *signalled);
  index(position);
}

void recording::bind_signal(size_t position, event& signalled) {
  recorded_command& target = commands_[position];
  command_links& links = target.links;
  links.signal = signalled.begin_signal();
  links.signal.first_run = runs_.load(std::memory_order_relaxed);
  signalled.note_signaller(target.work->ordering());
  if (links.signal.act == command_signal::action::counter) {
    links.counted = position + 1;
    signalled.bind_signal(counter_, links.counted, true);
  }
}

void recording::index(size_t position) {
  command_links& links = commands_[position].links;
  for (command_wait& wait : links.waits) {
    if (!wait.moves) continue;
    wait.moving_index = checked_cast<uint32_t>(moving_waits_.size());
    moving_waits_.emplace_back(wait.counter.get(), wait.point.target);
  }
  if (links.signal.act == command_signal::action::publish) {
    links.signal.published_index = checked_cast<uint32_t>(published_.size());
    published_.push_back(position);
  }
}

void recording::index_anew() {
  moving_waits_.clear();
  published_.clear();
  for (size_t i = 0; i < commands_.size(); ++i) index(i);
}

ref<recording> recording::copy() const {
  auto made =
      ref<recording>::adopt(new recording(*this, counter_, runs_.load(std::memory_order_relaxed)));
  made->index_anew();
  return made;
}

ref<recording> recording::clone() const {
  ref<in_order_counter> own;
  if (counter_) {
    own = in_order_counter::create();
    own->join_family_of(*counter_);
  }
  auto made = ref<recording>::adopt(new recording(*this, own, 0));
  for (size_t i = 0; i < made->commands_.size(); ++i) {
    command_links& links = made->commands_[i].links;
    links.signal.first_run = no_run;
    for (command_wait& wait : links.waits) {
      // A command before it in the list stands before it in the clone. One that comes later is
      // that of an earlier run, of which the clone has none: there the original's is meant.
      const bool is_inside = wait.moves && wait.counter.get() == counter_.get();
      if (!is_inside || wait.point.target > i) continue;
      wait.point = wait_point::of(own->cell, wait.point.target, futex_scope::process);
      wait.counter = own;
    }
  }
  made->index_anew();
  return made;
}

void recording::change_work(size_t position, std::shared_ptr<command> work) {
  commands_[position].work = std::move(work);
}

void recording::change_signal(size_t position, event* signalled) {
  command_links& links = commands_[position].links;
  const ref<event> former = links.signal.target;
  if (former.get() == signalled) return;
  if (former) {
    former->withdraw_signal(links, counter_.get(), runs_.load(std::memory_order_relaxed));
  }
  links.signal = {};
  if (signalled != nullptr) bind_signal(position, *signalled);
}

void recording::change_waits(size_t position, std::span<event* const> events) {
  std::vector<command_wait>& waits = commands_[position].links.waits;
  for (size_t i = 0; i < events.size(); ++i) {
    waits[i] = events[i] != nullptr ? events[i]->bind_wait() : command_wait{};
  }
}

void recording::finish_changes() {
  index_anew();
}

recording::run recording::begin_run() {
  run next;
  const uint64_t runs_before = runs_.fetch_add(1, std::memory_order_acq_rel);
  next.moving_targets.reserve(moving_waits_.size());
  for (const auto& [counter, offset] : moving_waits_) {
    next.moving_targets.push_back(counter->run_base.load(std::memory_order_acquire) + offset);
  }
  if (counter_) {
    // Events are bound to the counter by their position in the list; moving its base re-arms them.
    next.counter_base = runs_before * commands_.size();
    counter_->run_base.store(next.counter_base, std::memory_order_release);
    if (counter_->family() != 0) take_events_over();
  }
  next.published.reserve(published_.size());
  for (const size_t position : published_) {
    const command_signal& signal = commands_[position].links.signal;
    next.published.push_back(runs_before == signal.first_run ? signal.value
                                                             : signal.target->issue_number());
  }
  return next;
}

void recording::take_events_over() {
  for (const recorded_command& each : commands_) {
    if (each.links.signal.act != command_signal::action::counter) continue;
    each.links.signal.target->follow_signal(counter_, each.links.counted);
  }
}

batch::batch(ref<recording> source) : source_(std::move(source)), run_(source_->begin_run()) {
  is_batch_ = true;
}

ze_result_t batch::run() {
  ZEVENT_UNREACHABLE("a batch is run command by command");
}

}  // namespace zevent::driver
