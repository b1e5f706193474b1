#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "replay/survey.hpp"
#include "replay/value_access.hpp"
#include "repro/data_files.hpp"
#include "repro/object_names.hpp"
#include "repro/shaped_text.hpp"

namespace zevent::repro {

// What the text of calls refers to, to be declared before them.
struct c_needs {
  std::set<std::string> helpers;             // of c_prelude.hpp
  std::set<uint16_t> records;                // of the trace's model, that no header has
  std::set<uint16_t> functions;              // that are fetched by name
  std::set<uint16_t> enumerations;           // that no header has
  std::set<std::string> headers;             // beyond ze_api.h: "zes_api.h"
  std::map<uint32_t, uint64_t> host_ranges;  // number → bytes
  uint64_t scratch_bytes = 0;
  uint32_t api_version = 0;  // the newest function's
};

// Where the calls of a process stand among those of others.
struct process_place {
  uint32_t process = 0;      // of those that are written
  uint32_t first_range = 0;  // number of its first range of host memory
  // By IPC handle: the process that put it out. Null where there is one process only.
  std::map<replay::opaque_id, uint32_t>* handle_owners = nullptr;
};

// How the result of a call is looked at.
enum class call_watch : uint8_t {
  none,
  timed,    // it showed the symptom: its time, or its result, is printed beside the recorded one
  watched,  // it could have shown the symptom
  hangs,    // it did not return
};

struct call_style {
  call_watch watch = call_watch::none;
  uint32_t timed_index = 0;           // of a timed call
  bool until_done = false;            // asked again until the answer is SUCCESS
  std::optional<uint64_t> pass_turn;  // to be passed just before the call
  std::optional<uint64_t> finished;   // to be told after it
};

// Writes calls as C statements: locals for what is behind pointers, with every field as recorded,
// then the call, then what is taken out of arrays.
class c_call_writer {
 public:
  c_call_writer(const trace::trace_file& trace, const replay::survey& seen,
                const object_names& names, data_files& files, c_needs& needs, bool compare_memory,
                const process_place& place)
      : trace_(trace),
        model_(trace.model()),
        seen_(seen),
        names_(names),
        files_(files),
        needs_(needs),
        compare_memory_(compare_memory),
        place_(place) {}

  result<shaped_text> write(const replay::recorded_call& call, const call_style& style);

  // What the host wrote to memory, as far as it was noted before the call, or after it; statements
  // for the same place. After waits the notes are mostly about what the device wrote, which it will
  // write again: these are left out, or compared if that is wanted.
  enum class moment : uint8_t { before_call, after_call };
  result<std::vector<shaped_text>> write_memory(const replay::recorded_call& call, moment when);

 private:
  struct item {
    const api::type& type;
    api::extent pointee, inner;
    const api::variable& variable;
    const api::value* in = nullptr;
    const api::value* out = nullptr;
    std::string name;  // for a local, if one is needed
    size_t position = 0;
  };

  std::string argument(const api::variable& v, const api::value* in, const api::value* out);
  std::string expression(const item& it, const replay::value_scope& s);
  std::string scalar(const api::type& t, uint64_t bits, std::string_view name = "");
  std::string flags(const api::enumeration& e, uint64_t bits);
  std::string handle(const api::type& t, uint64_t bits);
  std::string address(uint64_t bits, uint64_t time_ns);
  std::string host_name(const replay::host_ranges::place& where);
  std::string place_text(const std::string& base, uint64_t offset);
  std::string target_text(const replay::embedded_pointer& pointer);
  std::string pointer(const item& it, const replay::value_scope& s);
  std::string single(const item& it, const api::type& pointee, const replay::value_scope& s);
  std::string elements(const item& it, const api::type& pointee, const replay::value_scope& s);
  std::string handles(const item& it, const api::type& pointee, uint64_t length);
  std::string bytes(const item& it, const replay::value_scope& s);
  std::string input_bytes(const item& it, std::span<const std::byte> content, bool has_pointers);
  std::string runs(const item& it);
  std::string initializer(const api::record& r, const api::value* in, const api::value* out,
                          const std::string& name);
  std::string array_field(const api::variable& field, const api::value* in,
                          const replay::value_scope& s);
  std::string chain(const item& it);
  std::string output_room(const std::string& name, const api::type& element, uint64_t count);
  std::string opaque(const api::value* in, const api::value* out, const api::record& r,
                     const std::string& name, bool by_value);
  std::string sent_handle(replay::opaque_id handle, const std::string& name, const api::record& r,
                          const std::string& wanted);
  std::string local(std::string_view wanted);
  void declare(std::string line) { declarations_.push_back(std::move(line)); }
  void need_type(const api::type& t);
  void need_function(const api::function& f);
  std::string call_expression(const replay::recorded_call& call,
                              const std::vector<std::string>& arguments);
  std::string wrapped(const replay::recorded_call& call, const call_style& style,
                      const std::string& expression);
  std::string object(replay::slot_id slot);
  result<std::vector<std::byte>> content_of(const api::value& v);
  void fail_with(std::string message) {
    if (problem_.empty()) problem_ = std::move(message);
  }
  void note_device_writes(const replay::recorded_call& call);
  void note_kernel_pointers(const std::vector<api::value>& values, bool are_arguments,
                            uint64_t time_ns);
  bool device_may_have_written(uint64_t address, uint64_t time_ns) const;
  std::vector<shaped_text> memory_statements(uint64_t begin, std::span<const std::byte> content,
                                             uint64_t time_ns);
  std::string fill_text(const std::string& target, std::string_view stem,
                        std::span<const std::byte> content);

  const trace::trace_file& trace_;
  const api::model& model_;
  const replay::survey& seen_;
  const object_names& names_;
  data_files& files_;
  c_needs& needs_;
  bool compare_memory_;
  process_place place_;

  // Whether plain host memory holds this already; notes that it does from now on.
  bool host_holds(uint64_t begin, std::span<const std::byte> content);

  std::set<uint32_t> written_by_device_;  // slots that commands, or kernels, may write to
  struct held_content {
    uint64_t end = 0;
    size_t hash = 0;
  };
  std::map<uint64_t, held_content> held_by_host_;  // by address, apart from each other
  const replay::recorded_call* call_ = nullptr;
  replay::value_scope parameters_;
  text_builder text_;
  std::vector<std::string> declarations_, afterwards_;
  std::set<std::string> locals_;
  std::string problem_;
};

}  // namespace zevent::repro
