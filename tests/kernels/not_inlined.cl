// Functions that ask not to be inlined: whole programs that were compiled without optimisation do.
__attribute__((noinline)) int where(global const int* in) {
  return in[get_global_id(0)] + (int)get_group_id(0) * 1000;
}

__attribute__((noinline)) int first_of_group(local int* shared_by_all, int own) {
  shared_by_all[get_local_id(0)] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared_by_all[0];
}

kernel void call_functions(global const int* in, global int* out, local int* scratch) {
  const int own = where(in);
  out[get_global_id(0)] = own + first_of_group(scratch, own);
}
