#include "report/sqlite_database.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace zevent::report {

void sqlite_database::closer::operator()(sqlite3* open) const {
  sqlite3_close(open);
}

sqlite_database::sqlite_database(const std::string& path) {
  sqlite3* opened = nullptr;
  const int status =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  handle_.reset(opened);
  if (status != SQLITE_OK) throw std::runtime_error(sqlite3_errstr(status));
}

void sqlite_database::run(const char* statements) {
  if (sqlite3_exec(get(), statements, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(get()));
}

void sqlite_insert::finaliser::operator()(sqlite3_stmt* prepared) const {
  sqlite3_finalize(prepared);
}

sqlite_insert::sqlite_insert(sqlite_database& into, const char* statement) : database_(into) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(into.get(), statement, -1, &prepared, nullptr) != SQLITE_OK) fail_now();
  statement_.reset(prepared);
}

void sqlite_insert::fail_now() const {
  throw std::runtime_error(sqlite3_errmsg(database_.get()));
}

void sqlite_insert::bind(int column, uint64_t value) {
  if (sqlite3_bind_int64(statement_.get(), column, static_cast<sqlite3_int64>(value)) != SQLITE_OK)
    fail_now();
}

void sqlite_insert::bind(int column, std::string_view text) {
  // The text outlives the step that reads it.
  if (sqlite3_bind_text64(statement_.get(), column, text.data(), text.size(), SQLITE_STATIC,
                          SQLITE_UTF8) != SQLITE_OK)
    fail_now();
}

void sqlite_insert::bind(int column, std::nullopt_t) {
  if (sqlite3_bind_null(statement_.get(), column) != SQLITE_OK) fail_now();
}

void sqlite_insert::step() {
  if (sqlite3_step(statement_.get()) != SQLITE_DONE) fail_now();
  sqlite3_reset(statement_.get());
}

}  // namespace zevent::report
