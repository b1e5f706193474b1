#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace zevent::report {

// The little of SQLite that writing tables needs. Errors are thrown as std::runtime_error with
// SQLite's own words: whoever exports turns them into a failure in one place.
class sqlite_database {
 public:
  // Makes a new file.
  explicit sqlite_database(const std::string& path);

  void run(const char* statements);
  sqlite3* get() const { return handle_.get(); }

 private:
  struct closer {
    void operator()(sqlite3* open) const;
  };
  std::unique_ptr<sqlite3, closer> handle_;
};

// A statement that inserts row after row:  insert.row(1, "name", std::nullopt).
class sqlite_insert {
 public:
  sqlite_insert(sqlite_database& into, const char* statement);

  template <typename... Values>
  void row(const Values&... values) {
    int column = 0;
    (bind(++column, values), ...);
    step();
  }

 private:
  struct finaliser {
    void operator()(sqlite3_stmt* prepared) const;
  };

  // SQLite has signed numbers only: what is larger wraps, as bits.
  void bind(int column, uint64_t value);
  void bind(int column, uint32_t value) { bind(column, uint64_t{value}); }
  void bind(int column, bool value) { bind(column, uint64_t{value}); }
  void bind(int column, std::string_view text);
  void bind(int column, std::nullopt_t);
  template <typename T>
  void bind(int column, const std::optional<T>& value) {
    value ? bind(column, *value) : bind(column, std::nullopt);
  }
  void step();
  [[noreturn]] void fail_now() const;

  sqlite_database& database_;
  std::unique_ptr<sqlite3_stmt, finaliser> statement_;
};

}  // namespace zevent::report
