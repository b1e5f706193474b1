#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace zevent::driver {

// Everything that a handle of the API points to is an `object`:
//
//   +0   four pointers to DDI tables, which loaders since API 1.13 read through the handle
//   +32  what kind of object it is
//   +36  references: the handle's own one, and those of children and of work in flight
//
// Destroying a handle marks the object as destroyed and drops the handle's reference; the memory
// stays until the last command that uses the object has run.
enum class object_kind : uint32_t {
  destroyed = 0,
  driver = 0x7a650001,
  device,
  context,
  command_queue,
  command_list,
  fence,
  event_pool,
  event,
  image,
  module,
  module_build_log,
  kernel,
  sampler,
  physical_memory,
  sysman_memory,
  fabric_vertex,
};

// Where loaders look for the tables: the layout of ze_handle_t, without its 40,000 lines of
// headers.
struct table_pointers {
  const void* core;
  const void* tools;
  const void* sysman;
  const void* runtime;
};

// The tables that every object starts with; filled on first use.
const table_pointers& shared_handle_tables();

class object {
 public:
  object(const object&) = delete;
  object& operator=(const object&) = delete;

  object_kind kind() const { return kind_; }

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }

  // Acquire-release: whoever deletes has seen everything that the other holders did.
  void drop_reference() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete_(this);
  }

  // The end of the handle. What is in flight keeps the object's memory, not its handle.
  void destroy_handle() {
    kind_ = object_kind::destroyed;
    drop_reference();
  }

 protected:
  using deleter = void (*)(object*);
  object(object_kind kind, deleter delete_object)
      : tables_(shared_handle_tables()), kind_(kind), delete_(delete_object) {
    count_creation(kind);
  }
  ~object() = default;

 private:
  // Throws std::bad_alloc where the fault out-of-host-memory strikes.
  static void count_creation(object_kind kind);

  table_pointers tables_;
  object_kind kind_;
  std::atomic<uint32_t> references_{1};
  deleter delete_;
};

// class event : public object_of<event, object_kind::event> { ... };
// There is no virtual function here, so that a handle points at the tables and at the object alike.
template <typename Derived, object_kind Kind>
class object_of : public object {
 public:
  static constexpr object_kind own_kind = Kind;

 protected:
  object_of() : object(Kind, [](object* self) { delete static_cast<Derived*>(self); }) {}
  ~object_of() = default;
};

// The handle that an object is known by.
template <typename Handle>
Handle to_handle(object* target) {
  static_assert(std::is_pointer_v<Handle>);
  return reinterpret_cast<Handle>(target);
}

// The object behind a handle; null when it is another kind of object or a destroyed one, as far as
// its memory still tells.
template <typename T>
T* try_from_handle(const void* handle) {
  if (handle == nullptr) return nullptr;
  auto* candidate = static_cast<object*>(const_cast<void*>(handle));
  return candidate->kind() == T::own_kind ? static_cast<T*>(candidate) : nullptr;
}

// What the C edge does with a handle: casts it, calls a method, returns its result.
//   return with<event>(hEvent, [](event& e) { return e.host_signal(); });
template <typename T, typename Function>
ze_result_t with(const void* handle, Function&& function) {
  if (handle == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  T* target = try_from_handle<T>(handle);
  if (target == nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return std::forward<Function>(function)(*target);
}

// A counted reference to an object or to anything else with add_reference and drop_reference.
template <typename T>
class ref {
 public:
  ref() = default;
  ref(std::nullptr_t) {}
  explicit ref(T* target) : target_(target) {
    if (target_ != nullptr) target_->add_reference();
  }
  ref(const ref& other) : ref(other.target_) {}
  ref(ref&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  ref& operator=(ref other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~ref() {
    if (target_ != nullptr) target_->drop_reference();
  }

  // Takes over the reference that a new object is born with.
  static ref adopt(T* target) {
    ref result;
    result.target_ = target;
    return result;
  }

  T* get() const { return target_; }
  T* operator->() const { return target_; }
  T& operator*() const { return *target_; }
  explicit operator bool() const { return target_ != nullptr; }

 private:
  T* target_ = nullptr;
};

// The start of every descriptor and property structure. A number, not an enumeration: programs
// leave anything there.
struct chained {
  uint32_t stype;
  const void* next;
};

inline uint32_t stype_of(const void* structure) {
  return static_cast<const chained*>(structure)->stype;
}

// The structure of the given type in a pNext chain; null when there is none.
template <typename T>
const T* find_in_chain(const void* chain, ze_structure_type_t type) {
  for (auto* link = static_cast<const chained*>(chain); link != nullptr;
       link = static_cast<const chained*>(link->next)) {
    if (link->stype == static_cast<uint32_t>(type)) return reinterpret_cast<const T*>(link);
  }
  return nullptr;
}

template <typename T>
T* find_in_chain(void* chain, ze_structure_type_t type) {
  return const_cast<T*>(find_in_chain<T>(static_cast<const void*>(chain), type));
}

}  // namespace zevent::driver
