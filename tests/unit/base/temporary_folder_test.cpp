#include "base/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace zevent {
namespace {

TEST(temporary_folder, is_made_where_the_user_wants_it_and_goes_away) {
  const temporary_folder outer;
  setenv("TMPDIR", outer.path().c_str(), 1);
  std::filesystem::path made;
  {
    const temporary_folder inner("named");
    made = inner.path();
    EXPECT_EQ(made.parent_path(), outer.path());
    EXPECT_TRUE(std::filesystem::is_directory(made));
  }
  EXPECT_FALSE(std::filesystem::exists(made));
  unsetenv("TMPDIR");
}

TEST(temporary_folder, is_made_elsewhere_when_the_user_names_no_folder) {
  setenv("TMPDIR", "/no/such/folder", 1);
  EXPECT_EQ(temporary_place(), "/tmp");
  const temporary_folder made;
  EXPECT_EQ(made.path().parent_path(), "/tmp");
  unsetenv("TMPDIR");
}

}  // namespace
}  // namespace zevent
