#include "driver/spirv_group_calls.hpp"

#include <algorithm>
#include <iterator>

namespace zevent::driver::spirv {
namespace {

// How the operands of an instruction follow one another.
enum class form {
  scoped,          // scope, value, number
  scoped_extent,   // scope, extent, value, cluster
  scoped_cluster,  // scope, value, number, cluster
  plain,           // value, number
  pair,            // value, second value, number
};

struct known_instruction {
  spv::Op opcode;
  form operands;
  bool needs_all;
  group_act act;
  group_computation computation = group_computation::add;
  number_kind kind = number_kind::natural;
};

using enum group_act;
using gc = group_computation;
using nk = number_kind;

constexpr known_instruction known_instructions[] = {
    {spv::OpGroupAll, form::scoped, true, all},
    {spv::OpGroupAny, form::scoped, true, any},
    {spv::OpGroupBroadcast, form::scoped, true, broadcast},
    {spv::OpGroupIAdd, form::scoped_extent, true, compute, gc::add},
    {spv::OpGroupFAdd, form::scoped_extent, true, compute, gc::add, nk::floating},
    {spv::OpGroupFMin, form::scoped_extent, true, compute, gc::least, nk::floating},
    {spv::OpGroupUMin, form::scoped_extent, true, compute, gc::least},
    {spv::OpGroupSMin, form::scoped_extent, true, compute, gc::least, nk::integer},
    {spv::OpGroupFMax, form::scoped_extent, true, compute, gc::greatest, nk::floating},
    {spv::OpGroupUMax, form::scoped_extent, true, compute, gc::greatest},
    {spv::OpGroupSMax, form::scoped_extent, true, compute, gc::greatest, nk::integer},
    {spv::OpGroupIMulKHR, form::scoped_extent, true, compute, gc::multiply},
    {spv::OpGroupFMulKHR, form::scoped_extent, true, compute, gc::multiply, nk::floating},
    {spv::OpGroupBitwiseAndKHR, form::scoped_extent, true, compute, gc::bit_and},
    {spv::OpGroupBitwiseOrKHR, form::scoped_extent, true, compute, gc::bit_or},
    {spv::OpGroupBitwiseXorKHR, form::scoped_extent, true, compute, gc::bit_xor},
    {spv::OpGroupLogicalAndKHR, form::scoped_extent, true, compute, gc::bit_and},
    {spv::OpGroupLogicalOrKHR, form::scoped_extent, true, compute, gc::bit_or},
    {spv::OpGroupLogicalXorKHR, form::scoped_extent, true, compute, gc::bit_xor},

    {spv::OpGroupNonUniformElect, form::scoped, false, elect},
    {spv::OpGroupNonUniformAll, form::scoped, false, all},
    {spv::OpGroupNonUniformAny, form::scoped, false, any},
    {spv::OpGroupNonUniformAllEqual, form::scoped, false, all_equal},
    {spv::OpGroupNonUniformBroadcast, form::scoped, false, broadcast},
    {spv::OpGroupNonUniformBroadcastFirst, form::scoped, false, broadcast_first},
    {spv::OpGroupNonUniformBallot, form::scoped, false, ballot},
    {spv::OpGroupNonUniformInverseBallot, form::scoped, false, ballot_inverse},
    {spv::OpGroupNonUniformBallotBitExtract, form::scoped, false, ballot_bit},
    {spv::OpGroupNonUniformBallotBitCount, form::scoped_extent, false, ballot_count},
    {spv::OpGroupNonUniformBallotFindLSB, form::scoped, false, ballot_lowest},
    {spv::OpGroupNonUniformBallotFindMSB, form::scoped, false, ballot_highest},
    {spv::OpGroupNonUniformShuffle, form::scoped, false, shuffle},
    {spv::OpGroupNonUniformShuffleXor, form::scoped, false, shuffle_xor},
    {spv::OpGroupNonUniformShuffleUp, form::scoped, false, shuffle_up},
    {spv::OpGroupNonUniformShuffleDown, form::scoped, false, shuffle_down},
    {spv::OpGroupNonUniformIAdd, form::scoped_extent, false, compute, gc::add},
    {spv::OpGroupNonUniformFAdd, form::scoped_extent, false, compute, gc::add, nk::floating},
    {spv::OpGroupNonUniformIMul, form::scoped_extent, false, compute, gc::multiply},
    {spv::OpGroupNonUniformFMul, form::scoped_extent, false, compute, gc::multiply, nk::floating},
    {spv::OpGroupNonUniformSMin, form::scoped_extent, false, compute, gc::least, nk::integer},
    {spv::OpGroupNonUniformUMin, form::scoped_extent, false, compute, gc::least},
    {spv::OpGroupNonUniformFMin, form::scoped_extent, false, compute, gc::least, nk::floating},
    {spv::OpGroupNonUniformSMax, form::scoped_extent, false, compute, gc::greatest, nk::integer},
    {spv::OpGroupNonUniformUMax, form::scoped_extent, false, compute, gc::greatest},
    {spv::OpGroupNonUniformFMax, form::scoped_extent, false, compute, gc::greatest, nk::floating},
    {spv::OpGroupNonUniformBitwiseAnd, form::scoped_extent, false, compute, gc::bit_and},
    {spv::OpGroupNonUniformBitwiseOr, form::scoped_extent, false, compute, gc::bit_or},
    {spv::OpGroupNonUniformBitwiseXor, form::scoped_extent, false, compute, gc::bit_xor},
    {spv::OpGroupNonUniformLogicalAnd, form::scoped_extent, false, compute, gc::bit_and},
    {spv::OpGroupNonUniformLogicalOr, form::scoped_extent, false, compute, gc::bit_or},
    {spv::OpGroupNonUniformLogicalXor, form::scoped_extent, false, compute, gc::bit_xor},
    {spv::OpGroupNonUniformQuadBroadcast, form::scoped, false, quad_broadcast},
    {spv::OpGroupNonUniformQuadSwap, form::scoped, false, quad_swap},
    {spv::OpGroupNonUniformRotateKHR, form::scoped_cluster, false, rotate},

    {spv::OpSubgroupBallotKHR, form::plain, false, ballot},
    {spv::OpSubgroupFirstInvocationKHR, form::plain, false, broadcast_first},
    {spv::OpSubgroupAllKHR, form::plain, false, all},
    {spv::OpSubgroupAnyKHR, form::plain, false, any},
    {spv::OpSubgroupAllEqualKHR, form::plain, false, all_equal},
    {spv::OpSubgroupReadInvocationKHR, form::plain, false, broadcast},

    {spv::OpSubgroupShuffleINTEL, form::plain, false, shuffle},
    {spv::OpSubgroupShuffleXorINTEL, form::plain, false, shuffle_xor},
    {spv::OpSubgroupShuffleDownINTEL, form::pair, false, shuffle_pair_down},
    {spv::OpSubgroupShuffleUpINTEL, form::pair, false, shuffle_pair_up},
};

}  // namespace

std::optional<group_call> find_group_call(const instruction& each) {
  const auto found = std::find_if(std::begin(known_instructions), std::end(known_instructions),
                                  [&](const auto& row) { return row.opcode == each.opcode; });
  if (found == std::end(known_instructions)) return std::nullopt;
  group_call call;
  call.operation.act = found->act;
  call.operation.needs_all = found->needs_all;
  call.operation.computation = found->computation;
  call.operation.kind = found->kind;
  const auto take = [&](size_t& place, size_t position) {
    if (position < each.operands.size()) place = position;
  };
  switch (found->operands) {
    case form::scoped:
      take(call.scope, 0);
      take(call.value, 1);
      take(call.number, 2);
      break;
    case form::scoped_extent:
      take(call.scope, 0);
      call.operation.extent = static_cast<group_extent>(each.operands[1]);
      take(call.value, 2);
      take(call.cluster, 3);
      break;
    case form::scoped_cluster:
      take(call.scope, 0);
      take(call.value, 1);
      take(call.number, 2);
      take(call.cluster, 3);
      break;
    case form::plain:
      take(call.value, 0);
      take(call.number, 1);
      break;
    case form::pair:
      take(call.value, 0);
      take(call.second_value, 1);
      take(call.number, 2);
      break;
  }
  return call;
}

spv::Scope scope_at(const module_index& index, const instruction& each, size_t operand) {
  if (operand >= each.operands.size()) return spv::ScopeSubgroup;
  return static_cast<spv::Scope>(
      index.integer_constant(each.operands[operand]).value_or(spv::ScopeSubgroup));
}

}  // namespace zevent::driver::spirv
