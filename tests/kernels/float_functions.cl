// Functions of single precision that the driver computes itself. Result k of work-item i is at
// out[k * count + i].
kernel void float_functions(global const float* in, global float* out) {
  size_t i = get_global_id(0), count = get_global_size(0);
  float x = in[i];
  out[i] = sin(x);
  out[count + i] = cos(x);
  out[2 * count + i] = tan(x);
  out[3 * count + i] = asin(x);
  out[4 * count + i] = acos(x);
  out[5 * count + i] = atan(x);
  out[6 * count + i] = exp(x);
  out[7 * count + i] = exp2(x);
  out[8 * count + i] = exp10(x);
  out[9 * count + i] = log(x);
  out[10 * count + i] = log2(x);
  out[11 * count + i] = log10(x);
}

kernel void of_vectors(global const float* in, global float* out) {
  vstore16(sin(vload16(0, in)), 0, out);
  vstore3(native_exp(vload3(0, in)), 0, out + 16);
}
