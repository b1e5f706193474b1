#include "repro/block_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace zevent::repro {
namespace {

constexpr uint64_t least_uses = 3;

std::string number_type(number_form form) {
  switch (form) {
    case number_form::u1:
      return "uint8_t";
    case number_form::u2:
      return "uint16_t";
    case number_form::u4:
      return "uint32_t";
    case number_form::u8:
      return "uint64_t";
    case number_form::s1:
      return "int8_t";
    case number_form::s2:
      return "int16_t";
    case number_form::s4:
      return "int32_t";
    case number_form::s8:
      break;
  }
  return "int64_t";
}

std::string parameter_name(const text_place& number) {
  return number.name.empty() ? "number" : number.name;
}

std::string unique_name(std::string wanted, std::set<std::string>& used) {
  std::string name = wanted;
  for (int i = 2; !used.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

bool is_release(std::string_view word) {
  return word == "Create" || word == "Destroy" || word == "Reset" || word == "Close";
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

std::string verb_first(std::string_view function) {
  std::vector<std::string_view> words;
  size_t begin = std::min(function.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), function.size());
  while (begin < function.size()) {
    const size_t end =
        std::min(function.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", begin + 1), function.size());
    words.push_back(function.substr(begin, end - begin));
    begin = end;
  }
  if (words.size() > 3 && words[0] == "Command" && words[1] == "List" && words[2] == "Append")
    words.erase(words.begin(), words.begin() + 2);
  if (words.size() > 1 && is_release(words.back()))
    std::rotate(words.begin(), words.end() - 1, words.end());
  std::string out;
  for (const auto each : words) out += (out.empty() ? "" : "_") + lower(each);
  return out.empty() ? "step" : out;
}

void block_functions::look_at(std::span<const folded_step> folded) {
  for (const auto& each : folded) look_at(each);
}

void block_functions::look_at(const folded_step& step) {
  if (step.is_loop()) {
    for (const auto& each : step.body) look_at(each);
    return;
  }
  if (origins_[step.shape].empty() || shapes_[step.shape].find('\n') == std::string::npos) return;
  auto& seen = uses_[step.shape];
  if (seen.count++ == 0) {
    seen.first = step.numbers;
    seen.varies.resize(step.numbers.size());
  }
  for (size_t i = 0; i < step.numbers.size(); ++i)
    if (!step.numbers[i].constant() || step.numbers[i].first != seen.first[i].first)
      seen.varies[i] = true;
}

void block_functions::settle(const object_names& names, const object_layout& objects) {
  for (const auto& each : names.classes())
    for (const auto& name : each.names) names_.insert(name);
  for (const auto& [shape, seen] : uses_)
    if (seen.count >= least_uses) functions_.emplace(shape, make(shape, seen, names, objects));
}

std::string block_functions::name_for(std::string_view origin) {
  return unique_name(verb_first(origin), names_);
}

block_functions::function block_functions::make(uint32_t shape, const use& seen,
                                                const object_names& names,
                                                const object_layout& objects) {
  function out;
  out.name = name_for(origins_[shape]);
  std::set<std::string> used;
  std::string parameters;
  const auto pieces = split_shape(shapes_[shape]);
  std::string body;
  for (size_t i = 0; i < pieces.places.size(); ++i) {
    const auto& place = pieces.places[i];
    body += pieces.literals[i];
    if (!seen.varies[i]) {
      body += place.is_object ? objects.reference(place.object_class, seen.first[i], {})
                              : number_text(seen.first[i].first, place.form);
      continue;
    }
    const bool is_address = place.is_object && body.ends_with('&');
    const bool is_target = place.is_object && pieces.literals[i + 1].starts_with(" = ");
    const std::string name = unique_name(
        place.is_object ? names.classes()[place.object_class].kind : parameter_name(place), used);
    if (is_address) body.pop_back();
    body += is_target ? "*" + name : name;
    const bool by_address = is_address || is_target;
    const std::string type =
        place.is_object ? names.classes()[place.object_class].c_type : number_type(place.form);
    parameters +=
        fmt::format("{}{}{} {}", parameters.empty() ? "" : ", ", type, by_address ? "*" : "", name);
    out.parameters.push_back({i, by_address});
  }
  body += pieces.literals.back();
  const std::string head =
      fmt::format("static void {}({})", out.name, parameters.empty() ? "void" : parameters);
  // The block's own braces are the function's.
  out.text = wrap_line(head + " {") + wrap_lines(body.substr(1));
  return out;
}

std::optional<std::string> block_functions::call(const folded_step& step,
                                                 const object_layout& objects,
                                                 std::span<const std::string> counters) const {
  const auto found = functions_.find(step.shape);
  if (found == functions_.end()) return std::nullopt;
  const auto places = places_of(shapes_[step.shape]);
  std::string arguments;
  for (const auto& each : found->second.parameters) {
    const auto& place = places[each.place];
    const auto& number = step.numbers[each.place];
    arguments += arguments.empty() ? "" : ", ";
    if (each.by_address) arguments += '&';
    arguments += place.is_object ? objects.reference(place.object_class, number, counters)
                                 : expression_text(number, place.form, counters);
  }
  return fmt::format("{}({});", found->second.name, arguments);
}

std::string block_functions::definitions() const {
  std::string out;
  for (const auto& [shape, each] : functions_) out += "\n" + each.text;
  return out;
}

}  // namespace zevent::repro
