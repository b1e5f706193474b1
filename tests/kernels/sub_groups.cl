// What a device without sub-group functions cannot run.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

kernel void sub_group_sums(global uint* out) {
  const uint item = (uint)get_global_id(0);
  out[item] = sub_group_reduce_add(item);
}
