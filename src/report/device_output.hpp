#pragma once

#include <string>
#include <vector>

#include "report/device_statistics.hpp"
#include "report/json_writer.hpp"

namespace zevent::report {

// The device's part of a summary, for people: tables, each a heading and its lines.
struct text_table {
  std::string heading;
  std::vector<std::string> lines;
};
std::vector<text_table> device_tables(const device_summary& device);

// The same as a member "device" of an object that is open.
void write_device_json(const device_summary& device, json_writer& out);

}  // namespace zevent::report
