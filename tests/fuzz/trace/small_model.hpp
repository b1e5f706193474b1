#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>
#include <vector>

#include "api/model.hpp"

namespace zevent::trace {

// A part of the API that has one of everything: enough for every path of the readers, and small
// enough that a fuzzer can parse it thousands of times a second.
inline constexpr std::array small_functions = {
    std::string_view("zeInit"),
    std::string_view("zeEventPoolCreate"),
    std::string_view("zeEventCreate"),
    std::string_view("zeEventDestroy"),
    std::string_view("zeEventHostSynchronize"),
    std::string_view("zeEventQueryStatus"),
    std::string_view("zeCommandListCreateImmediate"),
    std::string_view("zeCommandListClose"),
    std::string_view("zeCommandListAppendMemoryFill"),
    std::string_view("zeCommandListAppendMemoryCopy"),
    std::string_view("zeCommandListAppendLaunchKernelWithArguments"),
    std::string_view("zeKernelSetArgumentValue"),
    std::string_view("zeMemAllocHost"),
    std::string_view("zeMemAllocDevice"),
    std::string_view("zeMemFree"),
    std::string_view("zeDriverGetExtensionProperties"),
};

// Structs that only chains lead to.
inline constexpr std::array small_chained = {
    std::string_view("ze_event_pool_counter_based_exp_desc_t"),
};

// Views and spans are the big model's, or this object's.
class small_model {
 public:
  explicit small_model(const api::model& big) : big_(big) {
    for (const auto name : small_functions)
      if (const auto* function = big.find_function(name)) {
        keep_type(function->result_type);
        keep_variables(function->parameters);
        functions_.push_back(*function);
        big_functions_.push_back(big.index_of(*function));
      }
    for (const auto name : small_chained)
      if (const auto* record = big.find_record(name)) keep_record(index_of(big.records, *record));
    number(kept_types_);
    number(kept_records_);
    number(kept_enumerations_);
    number(kept_handles_);
    copy();
  }

  api::model view() const {
    return {big_.version, types_, enumerations_,  handles_,           records_,
            functions_,   {},     big_.externals, functions_by_name_, stypes_};
  }

  // Of a function or class of handles of the big model; no_index where it is left out.
  uint16_t function(uint16_t big) const {
    const auto found = std::find(big_functions_.begin(), big_functions_.end(), big);
    return found == big_functions_.end() ? api::no_index
                                         : static_cast<uint16_t>(found - big_functions_.begin());
  }
  uint16_t handle_class(uint16_t big) const {
    return big < kept_handles_.size() ? kept_handles_[big] : api::no_index;
  }

 private:
  static constexpr size_t most_enumerators = 8;
  using numbers = std::vector<uint16_t>;  // new index of each old one; kept while collecting: 1

  template <typename T>
  static uint16_t index_of(std::span<const T> all, const T& one) {
    return static_cast<uint16_t>(&one - all.data());
  }
  static void number(numbers& kept) {
    uint16_t next = 0;
    for (auto& each : kept) each = each == api::no_index ? each : next++;
  }

  void keep_type(uint16_t index) {
    if (kept_types_[index] != api::no_index) return;
    kept_types_[index] = 1;
    const auto& type = big_.types[index];
    switch (type.kind) {
      case api::type_kind::enumeration:
      case api::type_kind::flags:
        kept_enumerations_[type.index] = 1;
        break;
      case api::type_kind::handle:
        kept_handles_[type.index] = 1;
        break;
      case api::type_kind::record:
        keep_record(type.index);
        break;
      case api::type_kind::pointer:
        keep_type(type.index);
        break;
      default:
        break;
    }
  }
  void keep_record(uint16_t index) {
    if (kept_records_[index] != api::no_index) return;
    kept_records_[index] = 1;
    keep_variables(big_.records[index].fields);
  }
  void keep_variables(std::span<const api::variable> variables) {
    for (const auto& each : variables) keep_type(each.type_index);
  }

  std::span<const api::variable> renumbered(std::span<const api::variable> variables) {
    auto& own = variables_.emplace_back(variables.begin(), variables.end());
    for (auto& each : own) each.type_index = kept_types_[each.type_index];
    return own;
  }

  void copy() {
    for (uint16_t i = 0; i < kept_types_.size(); ++i) {
      if (kept_types_[i] == api::no_index) continue;
      auto& type = types_.emplace_back(big_.types[i]);
      switch (type.kind) {
        case api::type_kind::enumeration:
        case api::type_kind::flags:
          type.index = kept_enumerations_[type.index];
          break;
        case api::type_kind::handle:
          type.index = kept_handles_[type.index];
          break;
        case api::type_kind::record:
          type.index = kept_records_[type.index];
          break;
        case api::type_kind::pointer:
          type.index = kept_types_[type.index];
          break;
        default:
          break;
      }
    }
    copy_kept(big_.enumerations, kept_enumerations_, enumerations_);
    for (auto& each : enumerations_)
      each.values = each.values.first(std::min(each.values.size(), most_enumerators));
    copy_kept(big_.handles, kept_handles_, handles_);
    copy_kept(big_.records, kept_records_, records_);
    for (auto& record : records_) record.fields = renumbered(record.fields);
    for (auto& function : functions_) {
      function.result_type = kept_types_[function.result_type];
      function.table = api::no_index;
      function.parameters = renumbered(function.parameters);
    }
    for (const auto& each : big_.stypes)
      if (kept_records_[each.record] != api::no_index)
        stypes_.push_back({each.space, each.stype, kept_records_[each.record]});
    for (uint16_t i = 0; i < functions_.size(); ++i) functions_by_name_.push_back(i);
    std::sort(functions_by_name_.begin(), functions_by_name_.end(),
              [&](uint16_t a, uint16_t b) { return functions_[a].name < functions_[b].name; });
  }

  template <typename T>
  static void copy_kept(std::span<const T> all, const numbers& kept, std::vector<T>& into) {
    for (size_t i = 0; i < kept.size(); ++i)
      if (kept[i] != api::no_index) into.push_back(all[i]);
  }

  const api::model& big_;
  numbers kept_types_ = numbers(big_.types.size(), api::no_index);
  numbers kept_records_ = numbers(big_.records.size(), api::no_index);
  numbers kept_enumerations_ = numbers(big_.enumerations.size(), api::no_index);
  numbers kept_handles_ = numbers(big_.handles.size(), api::no_index);
  std::vector<uint16_t> big_functions_;

  std::vector<api::type> types_;
  std::vector<api::enumeration> enumerations_;
  std::vector<api::handle_class> handles_;
  std::vector<api::record> records_;
  std::vector<api::function> functions_;
  std::vector<uint16_t> functions_by_name_;
  std::vector<api::stype_meaning> stypes_;
  std::deque<std::vector<api::variable>> variables_;  // in place: spans point into them
};

}  // namespace zevent::trace
