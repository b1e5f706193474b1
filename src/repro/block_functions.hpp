#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "repro/c_render.hpp"

namespace zevent::repro {

// Blocks of several lines that a program has several times become functions of their own, with
// parameters for what is not always the same.
class block_functions {
 public:
  // `origins` are the API functions that the shapes call, by shape; "" for those that call none.
  block_functions(std::span<const std::string> shapes, std::span<const std::string> origins)
      : shapes_(shapes), origins_(origins) {}

  void look_at(std::span<const folded_step> folded);
  // To be called after the last look.
  void settle(const object_names& names, const object_layout& objects);

  // The call that stands for a step; nothing where it is to be written out.
  std::optional<std::string> call(const folded_step& step, const object_layout& objects,
                                  std::span<const std::string> counters) const;

  // C, one function after the other.
  std::string definitions() const;

 private:
  struct use {
    uint64_t count = 0;
    std::vector<progression> first;  // the numbers of the first step that was seen
    std::vector<bool> varies;        // by place
  };
  struct parameter {
    size_t place = 0;
    bool by_address = false;
  };
  struct function {
    std::string name;
    std::string text;
    std::vector<parameter> parameters;
  };

  void look_at(const folded_step& step);
  function make(uint32_t shape, const use& seen, const object_names& names,
                const object_layout& objects);
  std::string name_for(std::string_view origin);

  std::span<const std::string> shapes_, origins_;
  std::map<uint32_t, use> uses_;
  std::map<uint32_t, function> functions_;
  std::set<std::string> names_;
};

// "zeEventPoolCreate" → "create_event_pool".
std::string verb_first(std::string_view function);

}  // namespace zevent::repro
