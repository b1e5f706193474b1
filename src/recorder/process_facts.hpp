#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zevent::recorder {

struct process_fact {
  std::string_view name;
  std::string value;
};

// What is worth knowing about this process: see fact_record in api/recording_format.hpp. Of the
// environment only variables that have to do with Level Zero: others are nobody's business.
std::vector<process_fact> collect_process_facts();

}  // namespace zevent::recorder
