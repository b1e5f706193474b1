#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "repro/object_names.hpp"
#include "repro/shaped_text.hpp"

namespace zevent::repro {

// What the comment at a statement says of the calls it stands for.
struct step_note {
  uint64_t call_number = 0;
  uint64_t duration_ns = 0;
  bool is_call = false;  // false: something between calls
  bool returned = true;
  uint64_t asks = 1;  // recorded calls of a poll
};

// Statements that follow each other in a function.
struct step_sequence {
  std::string function;  // name of it, or the beginning of its name
  std::vector<uint32_t> shapes;
  std::vector<int64_t> numbers;  // of all steps, one after the other
  std::vector<size_t> first_number;
  std::vector<step_note> notes;

  void add(uint32_t shape, std::span<const int64_t> values, const step_note& note);
  size_t size() const { return shapes.size(); }
};

// Objects that loops run over stand in arrays; the others have names of their own.
class object_layout {
 public:
  explicit object_layout(const object_names& names)
      : names_(names), classes_(names.classes().size()) {}

  // Looks at what the steps refer to; `shapes` are the texts.
  void look_at(std::span<const folded_step> folded, std::span<const std::string> shapes);
  // To be called after the last look.
  void settle();

  std::string reference(uint32_t object_class, const progression& ordinal,
                        std::span<const std::string> counters) const;
  // "static ze_event_handle_t event_barrier, events[100];", a line each.
  std::vector<std::string> declarations() const;
  // The same for those that processes share, as fields of a struct.
  std::vector<std::string> shared_fields() const;

 private:
  struct interval {
    int64_t first = 0, last = 0;
    std::string name;
  };
  struct class_layout {
    std::set<int64_t> used;
    std::vector<interval> arrays;
  };
  void look_at(const folded_step& step, std::span<const std::string> shapes,
               std::vector<uint64_t>& iterations);
  std::vector<std::string> declare(bool shared) const;
  const interval* array_of(uint32_t object_class, int64_t ordinal) const;

  const object_names& names_;
  std::vector<class_layout> classes_;
};

// base + 2 * i - j
std::string expression_text(const progression& number, number_form form,
                            std::span<const std::string> counters);

// The line, broken after commas where it is too long, with the end of the line.
std::string wrap_line(std::string line);
// The same for each line of a text.
std::string wrap_lines(std::string_view text);

class block_functions;

// A function of the program, as text.
struct c_function {
  std::string name;
  std::string text;
  uint64_t lines = 0;
};

// Writes a folded sequence as functions of at most so many lines, as far as loops allow.
std::vector<c_function> render(const step_sequence& steps, std::span<const folded_step> folded,
                               std::span<const std::string> shapes, const object_layout& objects,
                               const block_functions& blocks, uint64_t most_lines);

}  // namespace zevent::repro
