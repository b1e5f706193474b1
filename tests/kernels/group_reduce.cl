// Groups whose work-items meet at barriers and share local memory, of both kinds.
kernel void sum_in_argument(global const int* in, global int* out, local int* scratch) {
  const size_t me = get_local_id(0);
  scratch[me] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t rest = get_local_size(0) / 2; rest > 0; rest /= 2) {
    if (me < rest) scratch[me] += scratch[me + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0) out[get_group_id(0)] = scratch[0];
}

kernel void sum_in_variable(global const int* in, global int* out) {
  local char before;  // so that what follows has to be aligned
  local int scratch[256];
  local int parity[2];
  const size_t me = get_local_id(0);
  scratch[me] = in[get_global_id(0)];
  if (me < 2) parity[me] = 0;
  before = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&parity[me % 2], scratch[me]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me == 0) out[get_group_id(0)] = parity[0] + parity[1] + before - 1;
}
