#pragma once

namespace zevent::driver {

// Something that lives as long as the process and is made on first use, in a static variable of a
// function: declared at namespace scope beside that function, this makes it together with the
// driver. A thread that were making it when another forks is not in the child, where nobody would
// ever finish; whoever needs it there would wait for ever.
class made_with_driver {
 public:
  explicit made_with_driver(void (*make)()) noexcept : make_(make), next_(first_) { first_ = this; }
  made_with_driver(const made_with_driver&) = delete;
  made_with_driver& operator=(const made_with_driver&) = delete;

  static void make_all() {
    for (const made_with_driver* each = first_; each != nullptr; each = each->next_) each->make_();
  }

 private:
  void (*const make_)();
  const made_with_driver* const next_;

  // Grows only while the library is loaded.
  static constinit inline const made_with_driver* first_ = nullptr;
};

}  // namespace zevent::driver
