// The two kernels of blocking_query.c.

kernel void reset_symbols(global ulong* symbols, ulong count) {
  const size_t i = get_global_id(0);
  if (i < count) symbols[i] = 0;
}

// Adds to every element and writes it to the opposite end. The loop keeps the device busy.
kernel void reverse_add(global const int* from, global int* to, ulong count, int rounds) {
  const size_t i = get_global_id(0);
  if (i >= count) return;
  int sum = from[i];
  for (int round = 0; round < rounds; ++round) sum = sum * 3 + round;
  to[count - 1 - i] = sum;
}
