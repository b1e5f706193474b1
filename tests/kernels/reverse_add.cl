// A kernel that takes long: every work-item adds up the array from its mirror image on, many times.
kernel void add_count_reverse(global const int* in, global int* out, long count, int rounds) {
  const long stride = (long)get_global_size(0);
  for (long i = (long)get_global_id(0); i < count; i += stride) {
    int sum = 0;
    for (int round = 0; round < rounds; ++round) sum += in[count - 1 - i] + round;
    out[i] = sum;
  }
}
