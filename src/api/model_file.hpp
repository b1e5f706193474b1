#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/model.hpp"
#include "base/result.hpp"

// A model as bytes: the schema that every trace carries, so that it opens in builds made with other
// headers.
//
//    0 magic "ZEVMODEL"
//    8 format version  u32
//   12 API version     u32, major << 16 | minor
//   16 lists, each a varint count and its items:
//        types          kind u8, index u16, size varint, name
//        enumerations   name, is_flags u8, list of enumerators: name, short name, value u32
//        handles        name, short name
//        records        name, api u8, is_union u8, size varint, list of variables
//        functions      name, api u8, result u16, table u16, slot u16, version u32,
//                       list of variables
//        tables         name, getter, list of functions u16, list of sizes: version u32, slots u32
//        externals      name
//        stypes         space u8, stype u32, record u16
//      variable         name, type u16, way u8, optional u8, role u8, extent, inner extent,
//                       offset varint, array length varint
//      extent           kind u8, source u8, index u16
//
// Names are a varint length and the characters. Enumerators of model.hpp are written as their
// numbers, which therefore never change; new ones are added at the end.
namespace zevent::api {

inline constexpr char model_magic[8] = {'Z', 'E', 'V', 'M', 'O', 'D', 'E', 'L'};
inline constexpr uint32_t model_format_version = 1;

std::vector<std::byte> write_model(const model& m);

// Bytes of unknown origin, which are copied: a model that comes back is consistent in itself, and
// decoding calls by it is as safe as by the builtin one.
result<std::shared_ptr<const model>> read_model(std::span<const std::byte> bytes);

}  // namespace zevent::api
