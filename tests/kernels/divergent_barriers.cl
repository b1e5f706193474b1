// Barriers that not all work-items come to, as programs for GPUs have them.

kernel void guarded(global int* out, int count) {
  local int shared[16];
  const int i = get_local_id(0);
  if (i >= count) return;
  shared[i] = 3 * i;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = shared[count - 1 - i];
}

// Each work-item leaves the loop when it has seen its own number of rounds.
kernel void leaving(global int* out, int rounds) {
  local int shared[16];
  const int i = get_local_id(0);
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    shared[i] = i + round;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += shared[15];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (round == i) {
      out[i] = sum;
      return;
    }
  }
  out[i] = -sum;
}

int exchange(local int* shared, int value) {
  const int i = get_local_id(0);
  shared[i] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared[i ^ 1];
}

// The barrier is in a function.
kernel void calling(global int* out) {
  local int shared[16];
  const int i = get_local_id(0);
  bool takes_part = true;
  if (i >= 10) takes_part = false;
  if (takes_part) out[i] = exchange(shared, 5 * i);
}
