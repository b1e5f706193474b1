// Built-in functions through generic pointers, which is what OpenCL C 2.0 gives them. Result k of
// work-item i is at out[k * count + i].

kernel void pairs(global const double* in, global double* out, local double* scratch) {
  const size_t i = get_global_id(0), n = get_global_size(0);
  const double x = in[i];
  local double* own = scratch + get_local_id(0);
  double second;
  int number;
  out[i] = fract(x, out + n + i);
  out[2 * n + i] = modf(x, own);
  out[3 * n + i] = *own;
  out[4 * n + i] = sincos(x, &second);
  out[5 * n + i] = second;
  out[6 * n + i] = frexp(x, &number);
  out[7 * n + i] = number;
  out[8 * n + i] = remquo(x, 0.75, &number);
  out[9 * n + i] = number & 7;
  out[10 * n + i] = lgamma_r(fabs(x) + 1, &number);
  out[11 * n + i] = number;
  // Of vectors, the first and the last number. Those of three doubles are in two registers at best.
  double3 wholes;
  const double3 rests = modf((double3)(x, 0, 2 * x), &wholes);
  out[12 * n + i] = rests.x + wholes.x;
  out[13 * n + i] = rests.z;
  int8 exponents;
  const float8 fractions = frexp((float8)((float3)((float)x), (float4)(1), (float)x), &exponents);
  out[14 * n + i] = ldexp(fractions.s0, exponents.s0);
  out[15 * n + i] = ldexp(fractions.s7, exponents.s7);
}

kernel void vectors(global const float* in, global float* out, local float* scratch) {
  const float* source = in;
  float* middle = scratch;
  float own[16];
  float* target = own;
  const size_t i = get_local_id(0);
  vstore4(vload4(i, source), i, middle);
  barrier(CLK_LOCAL_MEM_FENCE);
  vstore3(vload3(1, middle + 4 * i - 3), 0, target);
  vstore_half2((float2)(vload2(0, target + 1)), 3, (half*)target);
  vstore2(vload_half2(3, (half*)target), i, out);
}

kernel void copies(global const int* in, global int* out, local int* scratch) {
  event_t events[2];
  events[0] = async_work_group_copy(scratch, in, 8, 0);
  events[1] = async_work_group_strided_copy(scratch + 8, in, 4, 2, 0);
  wait_group_events(2, events);
  event_t last = async_work_group_copy(out, scratch, 12, 0);
  wait_group_events(1, &last);
}

// Flags of fences, and fences of every order.
kernel void fences(global int* out) {
  local int shared[4];
  const size_t i = get_local_id(0);
  int own = 1;
  int* pointer = i == 0 ? (int*)out : i == 1 ? (int*)shared : (int*)&own;
  *pointer = 7;
  const uint flags = get_fence(pointer);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_relaxed, memory_scope_device);
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
  mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst,
                         memory_scope_all_svm_devices);
  const uint wanted = i == 0 ? CLK_GLOBAL_MEM_FENCE : i == 1 ? CLK_LOCAL_MEM_FENCE : 0;
  out[1 + i] = (flags & wanted) == wanted ? *pointer : -1;
}
