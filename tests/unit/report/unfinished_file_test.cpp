#include "report/unfinished_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/temporary_folder.hpp"

namespace zevent::report {
namespace {

namespace fs = std::filesystem;

class UnfinishedFile : public testing::Test {
 protected:
  void SetUp() override { write(place(), "old"); }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  std::string place() const { return folder_ / "file"; }
  std::string content() const {
    std::stringstream text;
    text << std::ifstream(place()).rdbuf();
    return text.str();
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  // How a child ends that is writing when the signal comes.
  int status_after(int signal_number) const {
    const pid_t child = fork();
    if (child == 0) {
      unfinished_file file(place());
      write(file.path(), "new");
      raise(signal_number);
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }

 private:
  const temporary_folder folder_{"zevent-unfinished"};
};

TEST_F(UnfinishedFile, TakesThePlaceOfAnOlderOneWhenItIsComplete) {
  {
    unfinished_file file(place());
    write(file.path(), "new");
    EXPECT_EQ(content(), "old");
    EXPECT_TRUE(file.finish().has_value());
    EXPECT_EQ(content(), "new");
  }
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(UnfinishedFile, LeavesTheOlderOneWhenItIsGivenUp) {
  {
    unfinished_file file(place());
    write(file.path(), "new");
    EXPECT_EQ(files(), 2u);
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(UnfinishedFile, LeavesTheOlderOneWhenTheUserHasEnough) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = status_after(number);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
    EXPECT_EQ(content(), "old");
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(UnfinishedFile, LeavesNothingWhenTheUserHasEnoughAndSaysSoAgainAndAgain) {
  for (int trial = 0; trial < 100; ++trial) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const pid_t child = fork();
    if (child == 0) {
      unfinished_file file(place());
      write(file.path(), "new");
      if (::write(told[1], "x", 1) != 1) _exit(1);
      while (true) pause();
    }
    char word = 0;
    ASSERT_EQ(read(told[0], &word, 1), 1);
    while (waitpid(child, nullptr, WNOHANG) == 0) kill(child, SIGINT);
    close(told[0]);
    close(told[1]);
    ASSERT_EQ(files(), 1u) << "trial " << trial;
  }
}

TEST_F(UnfinishedFile, ASignalThatIsIgnoredStaysIgnored) {
  signal(SIGHUP, SIG_IGN);
  const int status = status_after(SIGHUP);
  signal(SIGHUP, SIG_DFL);
  EXPECT_TRUE(WIFEXITED(status)) << status;
}

TEST_F(UnfinishedFile, SignalsHaveTheirOwnEffectAgainAfterwards) {
  { unfinished_file file(place()); }
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST_F(UnfinishedFile, WhatCannotBeReplacedIsSaid) {
  fs::remove(place());
  fs::create_directory(place());
  write(place() + "/inside", "x");
  unfinished_file file(place());
  write(file.path(), "new");
  const auto done = file.finish();
  ASSERT_FALSE(done.has_value());
  EXPECT_NE(done.error().message.find(place()), std::string::npos);
}

}  // namespace
}  // namespace zevent::report
