// Sub-groups where work-items take different ways.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable

// As it is written for GPUs: every sub-group adds up its numbers, the first one adds up the sums.
float warp_sum(float x) {
  for (uint distance = 16; distance > 0; distance /= 2) {
    x += intel_sub_group_shuffle_down(x, 0.0f, distance);
  }
  return x;
}

kernel __attribute__((intel_reqd_sub_group_size(32))) void block_sum(global const float* in,
                                                                     global float* out) {
  local float sums[32];
  const uint lane = get_sub_group_local_id();
  const uint warp = get_sub_group_id();
  float x = warp_sum(in[get_global_id(0)]);
  if (lane == 0) sums[warp] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) < 32) {
    x = lane < get_num_sub_groups() ? sums[lane] : 0.0f;
    x = warp_sum(x);
    if (lane == 0) out[get_group_id(0)] = x;
  }
}

// A different number of rounds for each work-item, a different set of them in each round.
kernel __attribute__((intel_reqd_sub_group_size(32))) void rounds(global const uint* in,
                                                                  global uint* out) {
  const size_t i = get_global_id(0);
  uint seen = 0;
  for (uint round = 0; round < in[i]; ++round) {
    if ((in[i] + round) % 3 == 0) continue;
    seen = seen * 33 + sub_group_non_uniform_reduce_add(1u);
    if ((in[i] + round) % 3 == 1) seen += sub_group_non_uniform_reduce_max(round + (uint)i);
  }
  out[i] = seen + 7 * sub_group_reduce_add(1u);
}

// Groups go round and round between barriers while one of their sub-groups does more than others.
kernel __attribute__((intel_reqd_sub_group_size(16))) void ring(global uint* data, uint rounds,
                                                                local uint* ring) {
  const uint me = (uint)get_local_id(0), count = (uint)get_local_size(0);
  uint x = data[get_global_id(0)];
  for (uint round = 0; round < rounds; ++round) {
    ring[me] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    x = ring[(me + 1) % count];
    if (get_sub_group_id() == round % get_num_sub_groups()) x += sub_group_reduce_add(x);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  data[get_global_id(0)] = x;
}

// Through local memory, with nothing but a barrier of the sub-group, in one of them only.
kernel __attribute__((intel_reqd_sub_group_size(8))) void reversed(global uint* data) {
  local uint shared[64];
  const uint me = (uint)get_local_id(0);
  shared[me] = data[get_global_id(0)];
  if (get_sub_group_id() == 1) {
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] =
        shared[me - get_sub_group_local_id() + get_sub_group_size() - 1 - get_sub_group_local_id()];
  }
}

// Some are done before the others meet.
kernel void leavers(global uint* out) {
  const uint me = (uint)get_local_id(0);
  if (me % 4 == 3) {
    out[get_global_id(0)] = 99;
    return;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  const uint sum = sub_group_reduce_add(1u);
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[get_global_id(0)] = sum + (uint)work_group_reduce_max((int)me);
}

// Work-items at different barriers, which no kernel may do: it comes to an end all the same.
kernel void two_barriers(global uint* out) {
  if (get_local_id(0) % 2 == 0) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = sub_group_reduce_add(1u);
  } else {
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = 5;
  }
}

// The same function for a kernel whose work-items run apart and for one whose do not.
global uint offset_of_all = 3;

uint place(void) {
  barrier(CLK_LOCAL_MEM_FENCE);
  return (uint)(get_global_id(0) * 100 + get_local_id(0)) + offset_of_all;
}

kernel void place_apart(global uint* out) {
  const uint found = place();
  out[get_global_id(0)] = sub_group_broadcast(found, 0) * 1000 + found;
}

kernel void place_together(global uint* out) {
  out[get_global_id(0)] = place();
}

kernel void copied(global const uint* in, global uint* out, local uint* part) {
  const uint count = (uint)get_local_size(0);
  event_t event = async_work_group_strided_copy(part, in + get_group_id(0) * count * 2, count, 2, 0);
  wait_group_events(1, &event);
  part[get_local_id(0)] += sub_group_reduce_max(1u);
  event = async_work_group_copy(out + get_group_id(0) * count, part, count, 0);
  wait_group_events(1, &event);
}

// Which work-items hold the lock of a number is decided by all that want it, one number a round.
kernel __attribute__((intel_reqd_sub_group_size(32))) void by_turns(global const uint* in,
                                                                    global uint* out) {
  const size_t i = get_global_id(0);
  uint turn = 0;
  bool is_done = false;
  while (sub_group_any(!is_done)) {
    ++turn;
    if (!is_done) {
      const uint first = sub_group_broadcast_first(in[i]);
      if (in[i] == first) {
        out[i] = turn * 1000 + sub_group_non_uniform_reduce_add(1u);
        is_done = true;
      }
    }
  }
}

kernel __attribute__((intel_reqd_sub_group_size(256))) void too_large(global uint* out) {
  out[get_global_id(0)] = sub_group_reduce_add(1u);
}
