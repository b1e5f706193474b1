// What sub-groups and groups compute together. Every kernel writes several results a work-item, in
// columns: result k of work-item i is at out[k * count + i], count being that of all work-items.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

size_t item(void) {
  return get_global_linear_id();
}
size_t items(void) {
  return get_global_size(0) * get_global_size(1) * get_global_size(2);
}

kernel void places(global uint* out) {
  const size_t i = item(), n = items();
  out[i] = get_sub_group_size();
  out[n + i] = get_max_sub_group_size();
  out[2 * n + i] = get_num_sub_groups();
  out[3 * n + i] = get_enqueued_num_sub_groups();
  out[4 * n + i] = get_sub_group_id();
  out[5 * n + i] = get_sub_group_local_id();
  out[6 * n + i] = (uint)get_local_linear_id();
  out[7 * n + i] = (uint)(get_global_id(0) + 1000 * get_global_id(1) + 1000000 * get_global_id(2));
  out[8 * n + i] = (uint)(get_group_id(0) + 100 * get_group_id(1) + 10000 * get_group_id(2));
  out[9 * n + i] = (uint)(get_local_size(0) + 100 * get_local_size(1) + 10000 * get_local_size(2));
  out[10 * n + i] =
      (uint)(get_num_groups(0) + 100 * get_num_groups(1) + 10000 * get_num_groups(2));
}

#define SUB_GROUP_RESULTS(x)                                                                  \
  out[i] = sub_group_reduce_add(x);                                                           \
  out[n + i] = sub_group_reduce_min(x);                                                       \
  out[2 * n + i] = sub_group_reduce_max(x);                                                   \
  out[3 * n + i] = sub_group_scan_inclusive_add(x);                                           \
  out[4 * n + i] = sub_group_scan_inclusive_min(x);                                           \
  out[5 * n + i] = sub_group_scan_inclusive_max(x);                                           \
  out[6 * n + i] = sub_group_scan_exclusive_add(x);                                           \
  out[7 * n + i] = sub_group_scan_exclusive_min(x);                                           \
  out[8 * n + i] = sub_group_scan_exclusive_max(x);                                           \
  out[9 * n + i] = sub_group_broadcast(x, 2);

kernel __attribute__((intel_reqd_sub_group_size(16))) void sub_group_ints(global const int* in,
                                                                          global int* out) {
  const size_t i = item(), n = items();
  SUB_GROUP_RESULTS(in[i])
  out[10 * n + i] = sub_group_all(in[i] > -90);
  out[11 * n + i] = sub_group_any(in[i] > 90);
}

kernel __attribute__((intel_reqd_sub_group_size(8))) void sub_group_ulongs(global const ulong* in,
                                                                           global ulong* out) {
  const size_t i = item(), n = items();
  SUB_GROUP_RESULTS(in[i])
}

kernel __attribute__((intel_reqd_sub_group_size(32))) void sub_group_floats(global const float* in,
                                                                            global float* out) {
  const size_t i = item(), n = items();
  SUB_GROUP_RESULTS(in[i])
}

kernel void work_group_ints(global const int* in, global int* out) {
  const size_t i = item(), n = items();
  const int x = in[i];
  out[i] = work_group_reduce_add(x);
  out[n + i] = work_group_reduce_min(x);
  out[2 * n + i] = work_group_reduce_max(x);
  out[3 * n + i] = work_group_scan_inclusive_add(x);
  out[4 * n + i] = work_group_scan_inclusive_min(x);
  out[5 * n + i] = work_group_scan_inclusive_max(x);
  out[6 * n + i] = work_group_scan_exclusive_add(x);
  out[7 * n + i] = work_group_scan_exclusive_min(x);
  out[8 * n + i] = work_group_scan_exclusive_max(x);
  out[9 * n + i] = work_group_broadcast(x, get_local_size(0) - 1, get_local_size(1) - 1,
                                        get_local_size(2) - 1);
  out[10 * n + i] = work_group_all(x > -90);
  out[11 * n + i] = work_group_any(x > 90);
}

kernel __attribute__((intel_reqd_sub_group_size(16))) void shuffles(global const int* in,
                                                                    global int* out) {
  const size_t i = item(), n = items();
  const int x = in[i];
  const uint lane = get_sub_group_local_id();
  out[i] = intel_sub_group_shuffle(x, (lane * 7 + 3) % get_sub_group_size());
  out[n + i] = intel_sub_group_shuffle_xor(x, 5);
  out[2 * n + i] = intel_sub_group_shuffle_down(x, x + 1000, 3);
  out[3 * n + i] = intel_sub_group_shuffle_up(x + 1000, x, 3);
  out[4 * n + i] = sub_group_shuffle(x, (lane * 7 + 3) % get_sub_group_size());
  out[5 * n + i] = sub_group_shuffle_xor(x, 5);
  out[6 * n + i] = sub_group_shuffle_down(x, 3);
  out[7 * n + i] = sub_group_shuffle_up(x, 3);
  const int4 four = intel_sub_group_shuffle((int4)(x, x + 1, x + 2, x + 3), 1);
  out[8 * n + i] = four.w;
}

kernel __attribute__((intel_reqd_sub_group_size(8))) void blocks(global const uint* in,
                                                                 global uint* out,
                                                                 global ushort* shorts) {
  const uint sub_group = (uint)(get_group_id(0) * get_num_sub_groups()) + get_sub_group_id();
  const uint start = sub_group * get_max_sub_group_size() * 4;
  const uint4 all = intel_sub_group_block_read4(in + start);
  const uint one = intel_sub_group_block_read(in + start);
  intel_sub_group_block_write4(out + start, (uint4)(all.x + 1, all.y + 2, all.z + 3, one));
  intel_sub_group_block_write_us2(shorts + start / 2, (ushort2)((ushort)all.x, (ushort)all.w));
}

// Only work-items with an odd number come to the operations in the middle.
kernel __attribute__((intel_reqd_sub_group_size(32))) void odd_ones(global const int* in,
                                                                    global int* out) {
  const size_t i = item(), n = items();
  const int x = in[i];
  if (x & 1) {
    out[i] = sub_group_non_uniform_reduce_add(x);
    out[n + i] = sub_group_non_uniform_scan_inclusive_max(x);
    out[2 * n + i] = sub_group_non_uniform_scan_exclusive_add(x);
    out[3 * n + i] = sub_group_non_uniform_reduce_and(x);
    out[4 * n + i] = sub_group_non_uniform_reduce_xor(x);
    out[5 * n + i] = sub_group_non_uniform_scan_exclusive_mul(x);
    out[6 * n + i] = sub_group_clustered_reduce_add(x, 4u);
    out[7 * n + i] = sub_group_elect();
    out[8 * n + i] = sub_group_non_uniform_all(x > 0);
    out[9 * n + i] = sub_group_non_uniform_any(x > 90);
    out[10 * n + i] = sub_group_broadcast_first(x);
    out[11 * n + i] = sub_group_non_uniform_all_equal(x);
    out[12 * n + i] = sub_group_non_uniform_scan_inclusive_logical_or(x > 60);
  }
  out[13 * n + i] = sub_group_reduce_add(x);  // where all come again
}

kernel __attribute__((intel_reqd_sub_group_size(32))) void ballots(global const int* in,
                                                                   global uint* out) {
  const size_t i = item(), n = items();
  const uint4 votes = sub_group_ballot(in[i] > 0);
  out[i] = votes.x;
  out[n + i] = votes.y | votes.z | votes.w;
  out[2 * n + i] = sub_group_inverse_ballot(votes);
  out[3 * n + i] = sub_group_ballot_bit_extract(votes, 3);
  out[4 * n + i] = sub_group_ballot_bit_count(votes);
  out[5 * n + i] = sub_group_ballot_inclusive_scan(votes);
  out[6 * n + i] = sub_group_ballot_exclusive_scan(votes);
  out[7 * n + i] = sub_group_ballot_find_lsb(votes);
  out[8 * n + i] = sub_group_ballot_find_msb(votes);
  out[9 * n + i] = get_sub_group_eq_mask().x;
  out[10 * n + i] = get_sub_group_ge_mask().x;
  out[11 * n + i] = get_sub_group_gt_mask().x;
  out[12 * n + i] = get_sub_group_le_mask().x;
  out[13 * n + i] = get_sub_group_lt_mask().x;
}
