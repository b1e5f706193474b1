#include "api/model.hpp"

#include <gtest/gtest.h>
#include <level_zero/ze_ddi_common.h>

#include <algorithm>
#include <cstddef>

#include "api/zex_api.h"

namespace zevent::api {
namespace {

const model& m = builtin_model();

const variable& parameter(std::string_view function_name, std::string_view name) {
  const function* f = m.find_function(function_name);
  EXPECT_NE(f, nullptr) << function_name;
  return *std::find_if(f->parameters.begin(), f->parameters.end(),
                       [&](const variable& v) { return v.name == name; });
}

const variable& field(std::string_view record_name, std::string_view name) {
  const record* r = m.find_record(record_name);
  EXPECT_NE(r, nullptr) << record_name;
  return *std::find_if(r->fields.begin(), r->fields.end(),
                       [&](const variable& v) { return v.name == name; });
}

TEST(model, is_of_the_headers_this_build_was_made_with) {
  EXPECT_EQ(m.version, static_cast<uint32_t>(ZE_API_VERSION_CURRENT));
}

TEST(model, functions_are_found_by_name) {
  for (const function& f : m.functions) EXPECT_EQ(m.find_function(f.name), &f) << f.name;
  EXPECT_EQ(m.find_function("zeNoSuchFunction"), nullptr);
  EXPECT_EQ(m.find_function(""), nullptr);
}

TEST(model, function_knows_its_slot) {
  const function* query = m.find_function("zeEventQueryStatus");
  ASSERT_NE(query, nullptr);
  const dispatch_table& table = m.tables[query->table];
  EXPECT_EQ(table.name, "ze_event_dditable_t");
  EXPECT_EQ(query->slot, offsetof(ze_event_dditable_t, pfnQueryStatus) / sizeof(void*));
  EXPECT_EQ(table.functions[query->slot], m.index_of(*query));
}

TEST(model, layout_is_the_compilers) {
  const record* desc = m.find_record("ze_event_pool_desc_t");
  ASSERT_NE(desc, nullptr);
  EXPECT_EQ(desc->size_bytes, sizeof(ze_event_pool_desc_t));
  EXPECT_EQ(field("ze_event_pool_desc_t", "count").offset_bytes,
            offsetof(ze_event_pool_desc_t, count));
  EXPECT_EQ(field("ze_device_properties_t", "name").array_length, ZE_MAX_DEVICE_NAME);
  EXPECT_EQ(m.find_record("zex_counter_based_event_desc_t")->size_bytes, 32u);
}

TEST(model, wait_list_is_as_long_as_its_count) {
  const function* barrier = m.find_function("zeCommandListAppendBarrier");
  ASSERT_NE(barrier, nullptr);
  const variable& list = parameter("zeCommandListAppendBarrier", "phWaitEvents");
  EXPECT_EQ(list.pointee.kind, extent_kind::elements);
  EXPECT_EQ(list.pointee.source, length_source::sibling);
  EXPECT_EQ(barrier->parameters[list.pointee.index].name, "numWaitEvents");
}

TEST(model, field_takes_its_length_from_the_call) {
  const variable& buffer =
      field("ze_event_query_kernel_timestamps_results_ext_properties_t", "pKernelTimestampsBuffer");
  EXPECT_EQ(buffer.pointee.source, length_source::call_pointee);
  EXPECT_EQ(
      m.find_function("zeEventQueryKernelTimestampsExt")->parameters[buffer.pointee.index].name,
      "pCount");
}

TEST(model, array_of_arrays_takes_each_length_from_its_neighbour) {
  const variable& modules = field("ze_module_program_exp_desc_t", "pInputModules");
  EXPECT_EQ(modules.inner.kind, extent_kind::elements);
  EXPECT_EQ(modules.inner.source, length_source::sibling_element);
}

TEST(model, chained_structs_are_found_by_stype_in_their_own_space) {
  EXPECT_EQ(m.find_chained(api_name::ze, ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC)->name,
            "ze_event_pool_counter_based_exp_desc_t");
  EXPECT_EQ(m.find_chained(api_name::ze, ZEX_STRUCTURE_TYPE_COUNTER_BASED_EVENT_DESC)->name,
            "zex_counter_based_event_desc_t");
  EXPECT_EQ(m.find_chained(api_name::zes, ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES)->name,
            "zes_device_properties_t");
  EXPECT_EQ(m.find_chained(api_name::ze, 0x7ffffff0), nullptr);
}

TEST(model, indices_stay_within_their_lists) {
  for (const type& t : m.types) {
    if (t.kind == type_kind::pointer) {
      EXPECT_LT(t.index, m.types.size()) << t.name;
    } else if (t.kind == type_kind::record) {
      EXPECT_LT(t.index, m.records.size()) << t.name;
      EXPECT_EQ(t.size_bytes, m.records[t.index].size_bytes) << t.name;
    } else if (t.kind == type_kind::handle) {
      EXPECT_LT(t.index, m.handles.size()) << t.name;
    }
  }
}

TEST(model, handles_have_short_names) {
  const variable& event = parameter("zeEventQueryStatus", "hEvent");
  EXPECT_EQ(m.handles[m.types[event.type_index].index].short_name, "event");
}

TEST(model, enumerators_are_found_by_value) {
  const variable& flags = field("ze_event_pool_desc_t", "flags");
  const type& t = m.types[flags.type_index];
  ASSERT_EQ(t.kind, type_kind::flags);
  const enumerator* found = m.enumerations[t.index].find(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->short_name, "KERNEL_TIMESTAMP");
}

TEST(model, objects_are_created_and_released) {
  EXPECT_EQ(parameter("zeEventPoolCreate", "phEventPool").object_role, role::created);
  EXPECT_EQ(parameter("zeEventPoolDestroy", "hEventPool").object_role, role::released);
}

}  // namespace
}  // namespace zevent::api
