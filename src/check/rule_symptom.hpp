#pragma once

#include <functional>
#include <optional>
#include <span>

#include "model/symptom_search.hpp"

// Findings of rules as symptoms.
namespace zevent::check {

// Where a recording shows this finding. Fails where there is no such rule.
result<std::vector<model::found_symptom>> find_shown(
    const trace::trace_file& trace, const model::rule_finding& wanted,
    const std::function<void(uint64_t, uint64_t)>& progress = {});

// The first finding that is an error, of these processes, at a call up to `last_call`.
std::optional<model::found_symptom> find_first_error(
    const trace::trace_file& trace, std::span<const uint32_t> processes,
    uint64_t last_call = UINT64_MAX, const std::function<void(uint64_t, uint64_t)>& progress = {});

}  // namespace zevent::check
