// Every built-in that tells a work-item where it is.
kernel void record_ids(global ulong* out) {
  const size_t width = get_global_size(0);
  const size_t height = get_global_size(1);
  const size_t x = get_global_id(0) - get_global_offset(0);
  const size_t y = get_global_id(1) - get_global_offset(1);
  const size_t z = get_global_id(2) - get_global_offset(2);
  global ulong* own = out + 16 * ((z * height + y) * width + x);
  for (uint axis = 0; axis < 3; ++axis) {
    own[axis] = get_global_id(axis);
    own[3 + axis] = get_local_id(axis);
    own[6 + axis] = get_group_id(axis);
    own[9 + axis] = get_global_offset(axis);
    own[12 + axis] = get_num_groups(axis);
  }
  own[15] = get_local_size(0) * 10000 + get_local_size(1) * 100 + get_local_size(2);
}
