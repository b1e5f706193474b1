#include "repro/c_render.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/symptom.hpp"
#include "repro/block_functions.hpp"

namespace zevent::repro {
namespace {

constexpr size_t line_width = 100;
constexpr std::string_view counter_names[] = {"i", "j", "k", "l", "m", "n"};

std::string counter_name(size_t depth) {
  if (depth < std::size(counter_names)) return std::string(counter_names[depth]);
  return fmt::format("i{}", depth);
}

// The last comma or bar at which the line can be broken so that the first part fits, or else the
// first one; 0 when there is none. Those in string literals do not count.
size_t break_of(std::string_view line, size_t indent) {
  size_t best = 0;
  bool in_string = false;
  for (size_t i = 0; i + 1 < line.size(); ++i) {
    if (in_string && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (line[i] == ',' || line[i] == '|') && line[i + 1] == ' ' &&
               i > indent) {
      if (i >= line_width && best != 0) break;
      best = i;
    }
  }
  return best;
}

struct leaf_notes {
  uint64_t first_call = 0, last_call = 0, calls = 0, asks = 0;
  std::vector<uint64_t> durations_ns;
  bool returned = true;
};

// Goes through a folded sequence as it is run, and collects what is known of each written step.
class note_collector {
 public:
  explicit note_collector(const step_sequence& steps) : steps_(steps) {}

  std::vector<leaf_notes> run(std::span<const folded_step> folded) {
    size_t leaf = 0;
    for (const auto& each : folded) visit(each, leaf);
    return std::move(leaves_);
  }

 private:
  void visit(const folded_step& step, size_t& leaf) {
    if (!step.is_loop()) {
      if (leaf == leaves_.size()) leaves_.emplace_back();
      note(leaves_[leaf++]);
      return;
    }
    const size_t begin = leaf;
    for (uint64_t i = 0; i < step.iterations; ++i) {
      leaf = begin;
      for (const auto& each : step.body) visit(each, leaf);
    }
  }

  void note(leaf_notes& leaf) {
    const auto& what = steps_.notes[next_++];
    if (!what.is_call) return;
    if (leaf.calls++ == 0) leaf.first_call = what.call_number;
    leaf.last_call = what.call_number;
    leaf.asks += what.asks;
    leaf.returned = leaf.returned && what.returned;
    leaf.durations_ns.push_back(what.duration_ns);
  }

  const step_sequence& steps_;
  std::vector<leaf_notes> leaves_;
  size_t next_ = 0;
};

std::string comment_of(leaf_notes& leaf) {
  if (leaf.calls == 0) return "";
  if (!leaf.returned) return fmt::format("call {}, did not return", leaf.first_call);
  const std::string asked =
      leaf.asks == leaf.calls ? "" : fmt::format("; asked {} times", leaf.asks);
  if (leaf.calls == 1)
    return fmt::format("call {}, {}{}", leaf.first_call, model::time_text(leaf.durations_ns[0]),
                       asked);
  const auto middle =
      leaf.durations_ns.begin() + static_cast<std::ptrdiff_t>(leaf.durations_ns.size() / 2);
  std::nth_element(leaf.durations_ns.begin(), middle, leaf.durations_ns.end());
  const uint64_t median = *middle;
  return fmt::format(
      "{} calls, {} to {}; {} in the median, {} at most{}", leaf.calls, leaf.first_call,
      leaf.last_call, model::time_text(median),
      model::time_text(*std::max_element(leaf.durations_ns.begin(), leaf.durations_ns.end())),
      asked);
}

class function_writer {
 public:
  function_writer(std::span<const std::string> shapes, const object_layout& objects,
                  const block_functions& blocks, std::vector<leaf_notes> notes)
      : shapes_(shapes), objects_(objects), blocks_(blocks), notes_(std::move(notes)) {}

  std::string write(const folded_step& step) {
    out_.clear();
    put(step, 1);
    return std::move(out_);
  }

 private:
  void put(const folded_step& step, size_t depth) {
    if (!step.is_loop()) return put_statement(step, depth);
    const std::string counter = counter_name(counters_.size());
    put_line(depth,
             fmt::format("for (long {0} = 0; {0} < {1}; ++{0}) {{", counter, step.iterations));
    counters_.push_back(counter);
    for (const auto& each : step.body) put(each, depth + 1);
    counters_.pop_back();
    put_line(depth, "}");
  }

  std::string statement(const folded_step& step) const {
    if (auto call = blocks_.call(step, objects_, counters_)) return *call;
    return fill_places(shapes_[step.shape], [&](const text_place& place, size_t i) {
      return place.is_object ? objects_.reference(place.object_class, step.numbers[i], counters_)
                             : expression_text(step.numbers[i], place.form, counters_);
    });
  }

  void put_statement(const folded_step& step, size_t depth) {
    const std::string text = statement(step);
    const std::string comment = comment_of(notes_[next_leaf_++]);
    const bool is_block = text.find('\n') != text.npos;
    const bool fits = text.size() + comment.size() + 2 * depth + 7 <= line_width;
    if (!comment.empty() && (is_block || !fits)) put_line(depth, fmt::format("/* {} */", comment));
    size_t begin = 0;
    while (begin <= text.size()) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin);
      if (!comment.empty() && !is_block && fits) line += fmt::format(" /* {} */", comment);
      put_line(depth, line);
      begin = end + 1;
    }
  }

  void put_line(size_t depth, std::string_view line) {
    out_ += wrap_line(std::string(2 * depth, ' ') + std::string(line));
  }

  std::span<const std::string> shapes_;
  const object_layout& objects_;
  const block_functions& blocks_;
  std::vector<leaf_notes> notes_;
  std::vector<std::string> counters_;  // outermost first
  size_t next_leaf_ = 0;
  std::string out_;
};

}  // namespace

std::string wrap_line(std::string line) {
  std::string out;
  const size_t indent = std::min(line.find_first_not_of(' '), line.size()) + 4;
  while (line.size() > line_width) {
    const size_t last = break_of(line, indent);
    if (last == 0) break;
    out += line.substr(0, last + 1) + "\n";
    line = std::string(indent, ' ') + line.substr(last + 2);
  }
  return out + line + "\n";
}

std::string wrap_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += end == 0 && out.empty() ? "" : wrap_line(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void step_sequence::add(uint32_t shape, std::span<const int64_t> values, const step_note& note) {
  shapes.push_back(shape);
  first_number.push_back(numbers.size());
  numbers.insert(numbers.end(), values.begin(), values.end());
  notes.push_back(note);
}

std::string expression_text(const progression& number, number_form form,
                            std::span<const std::string> counters) {
  std::string out;
  const bool has_first = number.first != 0 || number.constant();
  if (has_first) out = number_text(number.first, form);
  // Increments are innermost first, counters outermost first.
  for (size_t l = number.increments.size(); l-- > 0;) {
    const int64_t step = number.increments[l];
    if (step == 0) continue;
    const auto& counter = counters[counters.size() - 1 - l];
    const uint64_t size =
        step < 0 ? uint64_t{0} - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
    const std::string term = size == 1 ? counter : fmt::format("{} * {}", size, counter);
    if (out.empty()) {
      out = step < 0 ? "-" + term : term;
    } else {
      out += fmt::format(" {} {}", step < 0 ? "-" : "+", term);
    }
  }
  return out;
}

void object_layout::look_at(std::span<const folded_step> folded,
                            std::span<const std::string> shapes) {
  std::vector<uint64_t> iterations;
  for (const auto& each : folded) look_at(each, shapes, iterations);
}

void object_layout::look_at(const folded_step& step, std::span<const std::string> shapes,
                            std::vector<uint64_t>& iterations) {
  if (step.is_loop()) {
    iterations.push_back(step.iterations);
    for (const auto& each : step.body) look_at(each, shapes, iterations);
    iterations.pop_back();
    return;
  }
  const auto places = places_of(shapes[step.shape]);
  for (size_t i = 0; i < places.size(); ++i) {
    if (!places[i].is_object) continue;
    const auto& ordinal = step.numbers[i];
    auto& layout = classes_[places[i].object_class];
    if (ordinal.constant()) {
      layout.used.insert(ordinal.first);
      continue;
    }
    interval range{ordinal.first, ordinal.first, ""};
    for (size_t l = 0; l < ordinal.increments.size(); ++l) {
      const int64_t far =
          ordinal.increments[l] * static_cast<int64_t>(iterations[iterations.size() - 1 - l] - 1);
      (far < 0 ? range.first : range.last) += far;
    }
    layout.arrays.push_back(range);
  }
}

void object_layout::settle() {
  for (size_t c = 0; c < classes_.size(); ++c) {
    auto& arrays = classes_[c].arrays;
    std::sort(arrays.begin(), arrays.end(),
              [](const interval& a, const interval& b) { return a.first < b.first; });
    std::vector<interval> joined;
    for (const auto& each : arrays) {
      if (!joined.empty() && each.first <= joined.back().last + 1) {
        joined.back().last = std::max(joined.back().last, each.last);
      } else {
        joined.push_back(each);
      }
    }
    arrays = std::move(joined);
    const auto& plural = names_.classes()[c].plural;
    for (size_t i = 0; i < arrays.size(); ++i)
      arrays[i].name = arrays.size() == 1 ? plural : fmt::format("{}_{}", plural, i);
  }
}

const object_layout::interval* object_layout::array_of(uint32_t object_class,
                                                       int64_t ordinal) const {
  for (const auto& each : classes_[object_class].arrays)
    if (each.first <= ordinal && ordinal <= each.last) return &each;
  return nullptr;
}

std::string object_layout::reference(uint32_t object_class, const progression& ordinal,
                                     std::span<const std::string> counters) const {
  const auto* array = array_of(object_class, ordinal.first);
  const auto& described = names_.classes()[object_class];
  if (array == nullptr)
    return described.owner + described.names[static_cast<size_t>(ordinal.first)];
  progression index = ordinal;
  index.first -= array->first;
  return fmt::format("{}{}[{}]", described.owner, array->name,
                     expression_text(index, number_form::s8, counters));
}

std::vector<std::string> object_layout::declarations() const {
  auto lines = declare(false);
  for (auto& each : lines) each = "static " + each;
  return lines;
}

std::vector<std::string> object_layout::shared_fields() const {
  return declare(true);
}

std::vector<std::string> object_layout::declare(bool shared) const {
  std::vector<std::string> lines;
  for (uint32_t c = 0; c < classes_.size(); ++c) {
    const auto& described = names_.classes()[c];
    if (described.owner.empty() == shared) continue;
    for (const auto& each : classes_[c].arrays)
      lines.push_back(
          fmt::format("{} {}[{}];", described.c_type, each.name, each.last - each.first + 1));
    for (const int64_t ordinal : classes_[c].used)
      if (array_of(c, ordinal) == nullptr)
        lines.push_back(
            fmt::format("{} {};", described.c_type, described.names[static_cast<size_t>(ordinal)]));
  }
  return lines;
}

std::vector<c_function> render(const step_sequence& steps, std::span<const folded_step> folded,
                               std::span<const std::string> shapes, const object_layout& objects,
                               const block_functions& blocks, uint64_t most_lines) {
  function_writer writer(shapes, objects, blocks, note_collector(steps).run(folded));
  std::vector<std::string> bodies(1);
  std::vector<uint64_t> lines(1);
  for (const auto& each : folded) {
    const std::string text = writer.write(each);
    const auto count = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
    if (lines.back() != 0 && lines.back() + count > most_lines) {
      bodies.emplace_back();
      lines.push_back(0);
    }
    bodies.back() += text;
    lines.back() += count;
  }
  std::vector<c_function> out;
  for (size_t i = 0; i < bodies.size(); ++i) {
    const std::string name =
        bodies.size() == 1 ? steps.function : fmt::format("{}_{}", steps.function, i + 1);
    out.push_back(
        {name, fmt::format("static void {}(void) {{\n{}}}\n", name, bodies[i]), lines[i] + 2});
  }
  return out;
}

}  // namespace zevent::repro
