// What there is in a dimension that may be none of the three, asked for with a number that is known
// when the kernel is compiled, or is not.
kernel void record_dimension(global ulong* out, uint dimension) {
  global ulong* own = out + 16 * get_global_id(0);
  own[0] = get_global_id(dimension);
  own[1] = get_local_id(dimension);
  own[2] = get_group_id(dimension);
  own[3] = get_global_offset(dimension);
  own[4] = get_global_size(dimension);
  own[5] = get_local_size(dimension);
  own[6] = get_num_groups(dimension);
  own[7] = get_enqueued_local_size(dimension);
  own[8] = get_global_id(3);
  own[9] = get_local_id(7);
  own[10] = get_group_id(0xffffffff);
  own[11] = get_global_offset(4);
  own[12] = get_global_size(3);
  own[13] = get_local_size(7);
  own[14] = get_num_groups(0xffffffff);
  own[15] = get_enqueued_local_size(4);
}
