// Divisions whose result is undefined, which must not end the process.
kernel void divide(global const int* a, global const int* b, global int* quotient, global int* rest,
                   global uint* unsigned_quotient) {
  const size_t i = get_global_id(0);
  quotient[i] = a[i] / b[i];
  rest[i] = a[i] % b[i];
  unsigned_quotient[i] = (uint)a[i] / (uint)b[i];
}

// out[0..4]: x to the power of 1, 2, 3, 13 and -2.
kernel void raise_to_powers(float x, global float* out) {
  out[0] = pown(x, 1);
  out[1] = pown(x, 2);
  out[2] = pown(x, 3);
  out[3] = pown(x, 13);
  out[4] = pown(x, -2);
}

kernel void divide_vectors(global const int4* a, global const int4* b, global int4* quotient) {
  *quotient = *a / *b;
}
