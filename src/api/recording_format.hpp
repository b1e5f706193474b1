#pragma once

// The bytes of a recording while it is made: what libzevent_recorder writes and src/trace reads.
//
// A run is recorded into a folder, OUT.zev.parts, that holds one file per process, called
// HOST-PID-N.part (N tells apart an exec'ed program from the one before it). The recorder maps its
// file shared, so that what was stored survives the death of the process. A reader may look at any
// time, at a file of a process that runs, ended, crashed or was killed.
//
//     file     ┌──────────────┬──────────────┬──────────────┬──────────────┬─ ─ ─
//              │ file_header  │ segment      │ packed area  │ (not used    │
//              │ 4096 bytes   │              │              │  yet: zeros) │
//              └──────────────┴──────────────┴──────────────┴──────────────┴─ ─ ─
//     segment  ┌────────────────┬────────┬────────┬────────┬─ ─ ─────────────────┐
//              │ segment_header │ record │ record │ record │ zeros               │
//              └────────────────┴────────┴────────┴────────┴─ ─ ─────────────────┘
//     call     ┌────────┬──────────┬──────┬───────┬──────────┬────────────┬──────────────────────┐
//     record   │ size 4 │ detail 2 │kind 1│flags 1│ start 8  │ returned 8 │ inputs (call codec)  │
//              └────────┴──────────┴──────┴───────┴──────────┴────────────┴──────────────────────┘
//              0        4          6      7       8          16           24                  size
//     packed   ┌────────────────┬──────────────┬─────────────┬─────────┬─────────┬─ ─ ─┬──────┐
//     area     │ segment_header │ block_header │ words, and  │ trailer │ block_… │     │ zeros│
//              │                │ 16 bytes     │ records     │ 8 bytes │         │     │      │
//              └────────────────┴──────────────┴─────────────┴─────────┴─────────┴─ ─ ─┴──────┘
//     word     ┌───────────────┬───────────────────────┬──────────────────────┐
//              │ 10: template  │ 27: later than before │ 27: returned, lower  │
//              └───────────────┴───────────────────────┴──────────────────────┘
//              bit 0           10                      37                     63
//
// Segments begin at header_bytes and lie at multiples of segment_unit_bytes from there. A segment
// is one unit or several in a row (segment_header::bytes). A unit that does not start with a magic
// of these is not in use (yet): go on with the next unit. The file ends at any byte; a segment
// that it cuts is read as far as it goes.
//
// A segment of one unit that is full, and all of whose calls have returned, is packed: the same
// records, in fewer bytes, are written as a block into a packed area, and the segment is used
// again, under a new position. So a long recording goes through a few segments that stay in
// memory, and what it writes to the disk is small. Until the block is whole the segment is as it
// was: `trailer`, written last, is the complement of the block's position. A position that has
// both a whole block and a segment is the trace of a death between the two: they are the same, and
// one of them counts. To read while the recorder writes: copy the segments first, and take a copy
// whose magic and position are the same before and after; then read the packed areas.
//
// A block is a row of words of 8 bytes. In its lowest 10 bits a word names a template: the record
// is a call that is like the template but for its times. The next 27 bits are by how many ticks it
// started later than the call before it in the block, the last 27 bits are the lower half of its
// `returned`. A word whose lowest 10 bits are 0 stands before a record as it was in the segment, in
// whole multiples of 8 bytes; where its next 10 bits are not 0, this record, a call of at most
// largest_template_bytes, is from here on the template of that number. A thread record takes all
// templates away and sets the start before to 0: each stretch can be read by itself.
//
// A position is how records refer to others (completion_record::call): the place that a record has
// in its segment, counted from segment_header::position. No two segments have the same.
//
// Version 1 had no packed areas, and segments (first_segment_magic) whose positions are their
// places in the file.
//
// Records begin behind the segment header, each at a multiple of 8 from the segment's start. `size`
// is the exact count of bytes of the record, its first 8 included; the next record is at the next
// multiple of 8. A size of 0 ends the segment. Bytes that were never written are zero.
//
// The two phases of a call, and why a reader never sees garbage:
//   1. Before the driver is entered, all of the record but `size` is stored, then `size` (release).
//      A size that is not 0 (acquire) thus says that the record is whole. `start` may still become
//      later, until the driver is entered.
//   2. After the driver returned, outputs are stored as a `completion` record of the same thread,
//      in the same way. Then `returned`, one word of result and duration, is stored (release). Not
//      0 (acquire), it says that the call returned and that its completion, if it has one, is
//      whole. A completion whose call has `returned` 0 is the trace of a death between the two: the
//      call counts as not returned.
// All stores of one thread reach the file in the order of the program, also when it is killed.
//
// Times are ticks of the clock of file_header::clock. `calibration` records tie ticks to
// CLOCK_MONOTONIC_RAW and CLOCK_REALTIME: between two of them interpolate, outside them go on with
// the nearest slope, and with a single one use ticks_per_second. The processor's counter is the
// same for all processes of a host since its boot, so their calibrations may be put together.
//
// Handles are recorded as the program saw them. Drivers give an address out again as soon as it is
// free, even before the destroying call has returned. One life of a handle is therefore from the
// *end* of the call that put it out to the *start* of the call that takes it back; sorted by these
// times, lives of the same value never overlap.
//
// What may never change: the first 24 bytes of file_header; that a version that a reader does not
// know is refused by name. Everything else may change with `version`.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zevent::recording {

inline constexpr uint64_t file_magic = 0x0a'57'41'52'56'45'5a'89;           // "\x89ZEVRAW\n"
inline constexpr uint64_t segment_magic = 0x32'47'45'53'56'45'5a'8a;        // "\x8aZEVSEG2"
inline constexpr uint64_t first_segment_magic = 0x31'47'45'53'56'45'5a'8a;  // "\x8aZEVSEG1"
inline constexpr uint64_t packed_area_magic = 0x31'4b'41'50'56'45'5a'8a;    // "\x8aZEVPAK1"
inline constexpr uint32_t format_version = 2;
inline constexpr uint32_t first_format_version = 1;
inline constexpr char parts_suffix[] = ".parts";
inline constexpr char part_suffix[] = ".part";

enum class clock_kind : uint32_t {
  processor_counter = 1,    // ticks of the invariant TSC
  monotonic_raw_clock = 2,  // nanoseconds of CLOCK_MONOTONIC_RAW
};

enum class part_state : uint32_t {
  recording = 1,  // the process runs, or died without a word
  closed = 2,     // the process ended and everything it did is here
  stopped = 3,    // the recorder gave up: stop_reason says why, lost_calls how much is missing
};

enum class memory_mode : uint32_t { off = 0, copies = 1, full = 2, results = 3 };

// The content address of a blob: XXH3, 128 bits, canonical (big-endian) order.
struct blob_hash {
  uint8_t bytes[16];
  friend bool operator==(const blob_hash&, const blob_hash&) = default;
};

enum class end_kind : uint32_t {
  unknown = 0,
  exited = 1,     // status: what it exited with
  by_signal = 2,  // status: the number of the signal that ended it
};

// How a process ended. It cannot know that itself: whoever started the run notes it in the part
// when the process is gone, in the last one where it became another program and has several.
struct process_end {
  end_kind kind;
  uint32_t status;
  uint64_t realtime_ns;  // when, as CLOCK_REALTIME has it
};
static_assert(sizeof(process_end) == 16);

struct file_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  uint64_t segment_unit_bytes;
  uint32_t process_id;
  uint32_t parent_process_id;
  uint64_t process_start;     // field 22 of /proc/PID/stat: with process_id, unique since boot
  uint64_t open_ticks;        // when this file was opened
  uint64_t ticks_per_second;  // first estimate; calibration records are better
  clock_kind clock;
  part_state state;        // changes; release
  memory_mode memory;      // what was asked for
  uint32_t stop_error;     // errno, where the state is stopped
  uint64_t lost_calls;     // changes; calls that were made and are not in this file
  blob_hash schema;        // the blob that holds the API description for `detail` of calls
  char host[64];           // null-terminated, as is the next
  char stop_reason[256];   // where the state is stopped
  uint64_t stop_ticks;     // where the state is stopped: until then nothing is missing
  process_end end;         // zeros while it is not known
  uint8_t reserved[3656];  // zeros behind the first 8: program_image.hpp
};
static_assert(sizeof(file_header) == 4096 && offsetof(file_header, schema) == 80 &&
              offsetof(file_header, host) == 96 && offsetof(file_header, end) == 424);

struct segment_header {
  uint64_t magic;     // stored last, release
  uint64_t bytes;     // whole segment, a multiple of the unit
  uint64_t position;  // of this header; 0: not used again, and nothing refers to its records
};
static_assert(sizeof(segment_header) == 24);

struct first_segment_header {
  uint64_t magic;
  uint64_t bytes;
};
static_assert(sizeof(first_segment_header) == 16);

// Of a packed segment. The trailer, 8 bytes, is behind the packed bytes.
struct block_header {
  uint64_t position;      // the segment's; 0 ends the area
  uint64_t packed_bytes;  // a multiple of 8
};
static_assert(sizeof(block_header) == 16);

constexpr uint64_t block_trailer(uint64_t position) {
  return ~position;
}

inline constexpr unsigned template_bits = 10;
inline constexpr unsigned packed_time_bits = 27;
inline constexpr uint64_t template_count = uint64_t{1} << template_bits;  // number 0 is none
inline constexpr uint64_t packed_time_limit = uint64_t{1} << packed_time_bits;
inline constexpr uint64_t largest_template_bytes = 512;

// The word for a call that is like a template.
constexpr uint64_t like_template(uint64_t number, uint64_t later_ticks, uint64_t returned_low) {
  return number | later_ticks << template_bits | returned_low << (template_bits + packed_time_bits);
}
// The word before a record that is there as it was.
constexpr uint64_t whole_record(uint64_t becomes_template) {
  return becomes_template << template_bits;
}

enum class record_kind : uint8_t {
  call = 1,
  completion = 2,
  thread = 3,
  blob = 4,
  memory = 5,
  calibration = 6,
  fact = 7,
  counter = 8,
  device_time = 9,
  device_clock = 10,
  usage = 11,
};

// What every record starts with. A kind that a reader does not know is skipped.
struct record_header {
  uint32_t size;    // stored last, release
  uint16_t detail;  // a call's function, as index into the schema; else see the kind
  record_kind kind;
  uint8_t flags;  // call_flag or memory_flag, else 0
};
static_assert(sizeof(record_header) == 8);

enum call_flag : uint8_t {
  call_is_injected = 1,  // made by a tool, not by the program
};

// One call of the program; the inputs follow, in the format of api/call_codec.hpp.
struct call_record {
  record_header header;
  uint64_t start;     // ticks
  uint64_t returned;  // 0 while under way, see returned_word
};
static_assert(sizeof(call_record) == 24);

// `returned`: the function's result in the upper half; in the lower half one more than the ticks
// that the call took, or duration_is_long: then the completion has the end. Of a function that
// returns no ze_result_t the result is 0, and the value it returned is the first of its outputs.
inline constexpr uint32_t duration_is_long = UINT32_MAX;

constexpr uint64_t returned_word(uint32_t result, uint64_t duration_ticks) {
  const uint64_t duration = duration_ticks < duration_is_long - 1 ? duration_ticks + 1  //
                                                                  : duration_is_long;
  return uint64_t{result} << 32 | duration;
}

// What a call put out; follows in the same thread, perhaps in a later segment. At most one a call,
// none where there is nothing to say. The outputs follow, in the format of api/call_codec.hpp.
struct completion_record {
  record_header header;
  uint64_t call;  // the position of the call_record
  uint64_t end;   // ticks
};
static_assert(sizeof(completion_record) == 24);

// "The records from here on are thread `thread`'s": calls are always some thread's; facts, counters
// and blobs may be nobody's. The first record of a segment is of this kind
// (one that has none was claimed but never used). A segment that a thread left when it ended is
// handed to another: a segment may hold several stretches.
struct thread_record {
  record_header header;
  uint32_t thread;     // 1, 2, … in the order of their first calls; 0: nobody's (see stretch)
  uint32_t thread_id;  // the kernel's
  uint64_t stretch;    // 0, 1, …: the order of the stretches of this thread; of 0 there is none
  char name[16];       // null-terminated
};
static_assert(sizeof(thread_record) == 40);

// Bytes that calls refer to by hash: SPIR-V, memory, the schema. The content follows. Normally once
// a file; twice is legal.
struct blob_record {
  record_header header;
  blob_hash hash;
};
static_assert(sizeof(blob_record) == 24);

enum memory_flag : uint8_t {
  memory_is_copy_source = 1,  // plain host memory that a command of this call reads
  memory_is_dirty_pages = 2,  // of a host or shared allocation, changed since it was last noted
  memory_is_after_call = 4,   // as it was when the driver had returned; else before it was entered
  memory_may_be_devices = 8,  // commands were under way: they, not the host, may have changed it
  memory_before_wait = 16,    // changed before the host last waited for commands, and not since
  memory_is_snapshot = 32,    // of a copy's source or target, to compare with and not to restore
  memory_is_copied = 64,      // read by a copy that the recorder injected, not by the host
};

// What memory held when the call was made: later than the call's record and earlier than its
// completion, in the same thread. Of allocations only what changed is noted: before commands that
// read memory are given to the device, and after the host has waited for some where that was asked
// for (memory_mode::results) or the kernel does not tell which pages changed. What was never noted
// was never written by the host.
struct memory_record {
  record_header header;
  uint64_t call;     // the position of the call_record
  uint64_t address;  // as the program sees it
  uint64_t bytes;
  blob_hash content;  // of exactly these bytes
};
static_assert(sizeof(memory_record) == 48);

struct calibration_record {
  record_header header;
  uint64_t ticks;
  uint64_t monotonic_raw_ns;
  uint64_t realtime_ns;
  uint64_t uncertainty_ticks;  // the clocks were read within so many ticks
};
static_assert(sizeof(calibration_record) == 40);

// Something worth knowing about the process. The name (`detail` bytes) and the value follow, not
// terminated. Names: "command line" and "environment" (values separated by null bytes),
// "executable", "working directory", "boot", "kernel", "driver", "way in", "mpi rank", "mpi size",
// "recorder", "driver version", "device N", "forked from" and others. A reader shows unknown ones
// as they are.
struct fact_record {
  record_header header;
};
static_assert(sizeof(fact_record) == 8);

// Of a process that was forked off a recorded one and never became another program: the id of that
// process and the ticks of the fork, in decimal, with a space between them.
inline constexpr char fork_fact[] = "forked from";

// A number that goes up during the run; its name follows. Names: "passed through NAME", calls of a
// function that is not in the schema. Where they cannot be counted it is 1 from the beginning.
struct counter_record {
  record_header header;
  uint64_t value;  // changes
};
static_assert(sizeof(counter_record) == 16);
inline constexpr std::string_view passed_through_counter = "passed through ";

// When the device executed a command: one record for each execution, in whatever thread saw that it
// was over. Timestamps are the device's own and wrap at its kernel_valid_bits; `submitted` and
// `collected` are between which they lie. `detail` is the device's number.
struct device_time_record {
  record_header header;
  uint64_t call;       // the position of the call_record that appended the command
  uint64_t execution;  // likewise, that gave it to the device: the same, or the list's execution
  uint64_t start;      // device timestamps
  uint64_t end;
  uint64_t submitted;  // ticks
  uint64_t collected;  // ticks
};
static_assert(sizeof(device_time_record) == 56);

// One point of the line from a device's clock to ticks; the device's name follows. `detail` is the
// number by which this process calls the device.
struct device_clock_record {
  record_header header;
  uint64_t ticks;
  uint64_t uncertainty_ticks;  // the device was asked within so many ticks
  uint64_t timestamp;          // the device's, wraps at valid_bits
  uint64_t timestamps_per_second;
  uint32_t valid_bits;
  uint32_t kernel_valid_bits;
};
static_assert(sizeof(device_clock_record) == 48);

enum usage_flag : uint8_t {
  usage_has_run_delay = 1,  // the kernel tells it
  usage_has_others = 2,     // the other threads were looked at
};

// What the thread of a slow call did meanwhile, as the kernel counts it: after the call's record
// and before its completion, in the same thread. The thread was looked at twice, before the call
// and after it; the numbers are differences. Not every slow call has one: looking takes time too.
struct usage_record {
  record_header header;
  uint64_t call;          // the position of the call_record
  uint64_t from;          // ticks: when the thread was first looked at, not after the call's start
  uint64_t until;         // ticks: when it was looked at again, not before the call's end
  uint64_t processor_ns;  // it ran
  uint64_t run_delay_ns;  // it was ready to run and had no processor
  uint32_t minor_faults;
  uint32_t major_faults;
  uint32_t voluntary_switches;    // it slept
  uint32_t involuntary_switches;  // its processor was taken
  // Of that other thread of the process which had no processor for longest since `others_from`.
  uint64_t others_from;  // ticks
  uint64_t other_run_delay_ns;
  uint64_t other_processor_ns;
  uint32_t other_threads;   // that were looked at
  uint32_t runnable_tasks;  // of the machine, after a call of a millisecond or more; 0: not known
  uint32_t processors;      // that the thread may run on; 0: not known
  uint32_t reserved;        // 0
};
static_assert(sizeof(usage_record) == 104);

constexpr uint64_t align_record(uint64_t offset) {
  return (offset + 7) & ~uint64_t{7};
}

}  // namespace zevent::recording
