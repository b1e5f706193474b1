#include "check/refused_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/print.hpp"
#include "api/result_code.hpp"

namespace zevent::check {
namespace {

using trace::number_of;

bool releases(model::function which) {
  static const auto table = [] {
    std::array<bool, model::function_count> made{};
    for (size_t i = 0; i < made.size(); ++i) {
      const auto name = model::name_of(static_cast<model::function>(i));
      for (const std::string_view part : {"Destroy", "Free", "CloseIpcHandle", "PutIpcHandle"})
        made[i] |= name.find(part) != std::string_view::npos;
    }
    return made;
  }();
  return table[static_cast<size_t>(which)];
}

}  // namespace

bool is_refusal(uint32_t result) {
  return api::is_error(result) && (result >> 24) == 0x78;
}

bool is_called_invalid(uint32_t result) {
  switch (result) {
    case 0x78000004:  // INVALID_ARGUMENT
    case 0x78000005:  // INVALID_NULL_HANDLE
    case 0x78000006:  // HANDLE_OBJECT_IN_USE
    case 0x78000007:  // INVALID_NULL_POINTER
    case 0x78000008:  // INVALID_SIZE
    case 0x7800000b:  // INVALID_SYNCHRONIZATION_OBJECT
    case 0x7800000c:  // INVALID_ENUMERATION
    case 0x78000013:  // INVALID_GROUP_SIZE_DIMENSION
    case 0x78000014:  // INVALID_GLOBAL_WIDTH_DIMENSION
    case 0x78000015:  // INVALID_KERNEL_ARGUMENT_INDEX
    case 0x78000016:  // INVALID_KERNEL_ARGUMENT_SIZE
    case 0x78000017:  // INVALID_KERNEL_ATTRIBUTE_VALUE
    case 0x78000018:  // INVALID_MODULE_UNLINKED
    case 0x78000019:  // INVALID_COMMAND_LIST_TYPE
    case 0x7800001a:  // OVERLAPPING_REGIONS
      return true;
    default:
      return false;
  }
}

std::string result_name(uint32_t result) {
  return api::print_result(api::builtin_model(), result);
}

void refused_calls::add(const call_view& call) {
  if (call.did_return && !api::is_error(call.result)) return;
  const auto [place, is_new] = calls_.try_emplace(call.number);
  if (!is_new) return;
  auto& made = place->second;
  made.result = call.result;
  made.did_return = call.did_return;
  made.which = call.which;
  made.thread = call.thread;
  if (call.did_return) open_.push_back(call.number);
}

void refused_calls::note_use(call_number failed, call_number user) {
  if (const auto known = calls_.find(failed); known != calls_.end()) known->second.used_by = user;
}

void refused_calls::see(const call_view& call) {
  if (!releases(call.which)) last_use_ = call.number;
  if (open_.empty()) return;
  std::erase_if(open_, [&](call_number each) {
    auto& refused = calls_.at(each);
    if (refused.thread != call.thread) return false;
    refused.next = call.number;
    refused.is_repeated = refused.which == call.which;
    return true;
  });
}

std::string refused_calls::describe(call_number call, bool crashed) const {
  const auto known = calls_.find(call);
  if (known == calls_.end()) return {};
  const auto& refused = known->second;
  if (!refused.did_return) return crashed ? " It did not return, and the process crashed." : "";
  std::string text =
      fmt::format(" {}: {}.", is_refusal(refused.result) ? "The driver refused it" : "It failed",
                  result_name(refused.result));
  if (refused.used_by != model::no_call) {
    text += fmt::format(" The program used what it should have made in #{}.",
                        number_of(refused.used_by));
  } else if (refused.next == model::no_call || last_use_ <= call) {
    text += " The program stopped after it.";
  } else if (refused.is_repeated) {
    text += fmt::format(" The program called {} again in #{}.", model::name_of(refused.which),
                        number_of(refused.next));
  } else {
    text += fmt::format(" The program went on with #{}.", number_of(refused.next));
  }
  return text;
}

}  // namespace zevent::check
