#pragma once

#include <cstdint>
#include <string>

namespace zevent::report {

// "850 ns", "1.23 us", "177.9 ms", "2.04 s": four digits at most, one unit.
std::string duration_text(uint64_t ns);

// "0.000001234": seconds with all nine digits.
std::string seconds_text(uint64_t ns);

// "512 B", "1.5 KiB", "38.1 MiB".
std::string bytes_text(uint64_t bytes);

}  // namespace zevent::report
