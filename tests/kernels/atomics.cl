// Many work-items at one place.
kernel void count_up(global int* total, volatile global long* wide, local int* in_group) {
  if (get_local_id(0) == 0) *in_group = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(in_group);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_add(total, *in_group);
}

kernel void generic_count_up(global atomic_int* total) {
  atomic_int* anywhere = total;  // a pointer to the generic address space
  atomic_fetch_add(anywhere, 2);
}

// Every group waits until all have come.
kernel void meet(global volatile int* arrived, global int* seen) {
  atomic_inc(arrived);
  while (atomic_add(arrived, 0) < (int)get_num_groups(0)) {
  }
  seen[get_group_id(0)] = *arrived;
}
