#pragma once

#include <cstddef>
#include <cstdint>

// The bytes of a packed trace (*.zev). All numbers are little-endian.
//
//   ┌──────────────┬───────┬───────┬─────┬───────┬─────────────┬─────────┐
//   │ file header  │ chunk │ chunk │  …  │ chunk │ index chunk │ trailer │
//   └──────────────┴───────┴───────┴─────┴───────┴─────────────┴─────────┘
//
//   file header, 32 bytes          chunk, 48 bytes + payload        trailer, 24 bytes
//    0 magic "ZEVENT\r\n"           0 magic "ZEVK"                   0 offset of index chunk u64
//    8 version        u32           4 kind             u16           8 xxh64 of bytes 0..7
//   12 header bytes   u32           6 reserved, 0      u16          16 magic "ZEVEND\r\n"
//   16 reserved, 0    u64           8 payload bytes    u64
//   24 xxh64 of bytes 0..23        16 first item       u64
//                                  24 items            u64
//                                  32 xxh64 of the payload
//                                  40 xxh64 of bytes 0..39, seeded
//                                     with the chunk's offset: a trace
//                                     kept inside a trace is no chunk
//                                  48 payload, then zeros up to a multiple of 8
//
//   payload of every chunk: named streams, each compressed on its own
//    0 streams        u32
//    4 reserved, 0    u32
//    8 per stream, 24 bytes:  0 name u16 │ 2 coding u8 │ 3 reserved, 0 u8 │ 4 reserved, 0 u32
//                             8 bytes when decoded u64 │ 16 bytes stored u64
//      then the stored bytes of each stream, back to back
//
// What may never change: the file header up to `version`, the meaning of a number once it is given
// to a chunk kind, a stream name or a coding, and that readers skip kinds and names they do not
// know. A change that an older reader would misread takes a new number or a new `version`.
//
// A file without a valid trailer was cut or is unfinished: its chunks are found by walking from the
// first one, and everything before the cut is read.
namespace zevent::trace {

inline constexpr char file_magic[8] = {'Z', 'E', 'V', 'E', 'N', 'T', '\r', '\n'};
inline constexpr char trailer_magic[8] = {'Z', 'E', 'V', 'E', 'N', 'D', '\r', '\n'};
inline constexpr char chunk_magic[4] = {'Z', 'E', 'V', 'K'};
inline constexpr uint32_t file_version = 1;

inline constexpr uint64_t file_header_bytes = 32;
inline constexpr uint64_t chunk_header_bytes = 48;
inline constexpr uint64_t trailer_bytes = 24;
inline constexpr uint64_t stream_entry_bytes = 24;

enum class chunk_kind : uint16_t {
  schema = 1,        // the API model that the calls were encoded by
  run = 2,           // processes, threads and what is known of the machine
  calls = 3,         // items are calls, numbered from `first item`
  blobs = 4,         // items are blobs
  objects = 5,       // items are objects: handles told apart by generation
  index = 6,         // items are the chunks before it
  memory = 7,        // items are notes of what memory held; `first item` is the call of the first
  device_times = 8,  // items are executions of commands; `first item` is the call of the first
  call_usage = 9,    // items are notes of what threads did during calls; likewise
};

enum class stream_coding : uint8_t {
  raw = 0,       // stored as they are
  zstd = 1,      // one zstd frame that says its content size
  constant = 2,  // one stored byte, repeated
};

// Limits that a reader enforces before it allocates; a writer stays below them.
inline constexpr uint64_t max_streams_per_chunk = 4096;
inline constexpr uint64_t max_stream_bytes = uint64_t{1} << 32;
inline constexpr uint64_t max_calls_per_chunk = uint64_t{1} << 20;

}  // namespace zevent::trace
