// Divisions whose result is undefined, which must not end the process.
kernel void divide(global const int* a, global const int* b, global int* quotient, global int* rest,
                   global uint* unsigned_quotient) {
  const size_t i = get_global_id(0);
  quotient[i] = a[i] / b[i];
  rest[i] = a[i] % b[i];
  unsigned_quotient[i] = (uint)a[i] / (uint)b[i];
}

kernel void divide_vectors(global const int4* a, global const int4* b, global int4* quotient) {
  *quotient = *a / *b;
}
