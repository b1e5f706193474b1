#pragma once

#include <deque>

#include "model/handle_map.hpp"
#include "model/objects.hpp"

namespace zevent::model {

// Objects of one kind by handle. A destroyed one stays until its handle is given out again, so that
// a use after the end is recognised; of those, only so many are kept.
template <typename T>
class object_table {
 public:
  // The last object with this handle, alive or not; null when there never was one.
  T* find(uint64_t handle) const {
    const ref<T>* found = objects_.find(handle);
    return found != nullptr ? found->get() : nullptr;
  }
  T* find_alive(uint64_t handle) const {
    T* found = find(handle);
    return found != nullptr && found->alive() ? found : nullptr;
  }

  T* add(uint64_t handle, const call_view& maker) {
    if (handle == 0) return nullptr;
    auto made = make<T>();
    made->handle = handle;
    made->created = maker.number;
    made->created_by = maker.which;
    made->created_by_thread = maker.thread;
    T* plain = made.get();
    objects_[handle] = std::move(made);
    return plain;
  }

  void bury(T& dead, call_number destroyed) {
    dead.destroyed = destroyed;
    graveyard_.push_back(dead.handle);
    if (graveyard_.size() <= most_dead) return;
    const uint64_t oldest = graveyard_.front();
    graveyard_.pop_front();
    if (const T* found = find(oldest); found != nullptr && !found->alive()) objects_.erase(oldest);
  }

  template <typename Visit>
  void for_each_alive(Visit&& visit) const {
    objects_.for_each([&](uint64_t, const ref<T>& each) {
      if (each->alive()) visit(*each);
    });
  }

  void clear() {
    objects_ = {};
    graveyard_.clear();
  }

 private:
  static constexpr size_t most_dead = 16384;

  handle_map<ref<T>> objects_;
  std::deque<uint64_t> graveyard_;  // handles, in the order of their destruction
};

}  // namespace zevent::model
