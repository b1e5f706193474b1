// Work-items that hand values to each other, across barriers that all of them come to.

kernel void exchange_twice(global int* out) {
  local int shared[17];
  const int i = get_local_id(0);
  if (i == 0) shared[16] = 1000;
  shared[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int next = shared[i + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  shared[i] = next;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = shared[i + 1];
}

int hand_on(local int* restrict shared, int value) {
  const int i = get_local_id(0);
  shared[i] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int next = shared[i + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  return next;
}

kernel void exchange_restrict(global int* out, local int* restrict shared) {
  const int i = get_local_id(0);
  if (i == 0) shared[16] = 1000;
  shared[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int first = shared[i + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int next = hand_on(shared, first);
  shared[i] = next;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = shared[i + 1];
}

kernel void exchange_in_global_memory(global int* restrict out, global int* restrict shared) {
  const int i = get_local_id(0);
  if (i == 0) shared[16] = 1000;
  shared[i] = i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  const int next = shared[i + 1];
  barrier(CLK_GLOBAL_MEM_FENCE);
  shared[i] = next;
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = shared[i + 1];
}
