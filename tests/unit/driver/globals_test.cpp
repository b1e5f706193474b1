#include <dlfcn.h>
#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace zevent::driver::test {
namespace {

struct guard {
  std::string variable;
  const unsigned char* is_made;
};

// The compiler keeps a byte for each static variable of a function that is made on first use: 1
// when it is made. Its symbol says whose it is.
std::vector<guard> guards_of_the_driver() {
  Dl_info driver{};
  if (dladdr(reinterpret_cast<void*>(&zeInit), &driver) == 0) return {};
  const std::string command = std::string("readelf -sWC '") + driver.dli_fname + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> listing(popen(command.c_str(), "r"), pclose);
  std::vector<guard> found;
  char text[4096];
  while (listing != nullptr && fgets(text, sizeof text, listing.get()) != nullptr) {
    const std::string line = text;
    constexpr std::string_view mark = "guard variable for zevent::";
    const size_t name = line.find(mark);
    if (name == line.npos) continue;
    std::istringstream columns(line);
    std::string number, size, type;
    uintptr_t offset = 0;
    columns >> number >> std::hex >> offset >> size >> type;
    if (type != "OBJECT") continue;  // the others belong to threads
    found.push_back({line.substr(name, line.size() - name - 1),
                     static_cast<const unsigned char*>(driver.dli_fbase) + offset});
  }
  return found;
}

// One that is being made when another thread forks is never finished in the child, where whoever
// needs it waits for ever.
TEST(globals, are_all_made_when_the_driver_is) {
  ASSERT_EQ(zeInit(0), ZE_RESULT_SUCCESS);
  uint32_t count = 1;
  ze_driver_handle_t driver = nullptr;
  ASSERT_EQ(zeDriverGet(&count, &driver), ZE_RESULT_SUCCESS);
  const auto guards = guards_of_the_driver();
  EXPECT_GT(guards.size(), 10u) << "the library has no symbols, or readelf is missing";
  for (const guard& each : guards) {
    EXPECT_EQ(*each.is_made, 1) << each.variable << "; declare a made_with_driver beside it";
  }
}

}  // namespace
}  // namespace zevent::driver::test
