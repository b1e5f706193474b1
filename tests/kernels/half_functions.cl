// Built-in functions of half-precision numbers. Result k of work-item i is at out[k * count + i].
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void half_functions(global const half* in, global half* out) {
  const size_t i = get_global_id(0), n = get_global_size(0);
  const half x = in[i];
  out[i] = sqrt(fabs(x));
  out[n + i] = sin(x);
  out[2 * n + i] = exp(x / (half)16);
  out[3 * n + i] = fmax(x, (half)2);
  out[4 * n + i] = floor(x);
  out[5 * n + i] = fma(x, (half)0.5f, (half)1);
  out[6 * n + i] = ldexp(x, 2);
  out[7 * n + i] = ilogb(fabs(x) + (half)1);
  out[8 * n + i] = dot((half4)(x, (half)1, x, (half)2), (half4)((half)2, x, (half)1, (half)1));
  out[9 * n + i] = isnan(x) ? (half)1 : (half)0;
  out[10 * n + i] = length((half2)(x, (half)3));
  out[11 * n + i] = (half)convert_int_sat(x * (half)3);
  const half4 four = clamp((half4)(x, -x, x + x, (half)0), (half4)((half)-1), (half4)((half)1));
  out[12 * n + i] = four.x + four.y + four.z + four.w;
}

// Those that give a second number through a pointer, to memory of each kind.
kernel void half_pairs(global const half* in, global half* out, local half* scratch) {
  const size_t i = get_global_id(0), n = get_global_size(0);
  const half x = in[i];
  half whole;
  out[i] = fract(x, &whole);
  out[n + i] = whole;
  out[2 * n + i] = modf(x, out + 3 * n + i);
  out[4 * n + i] = sincos(x, scratch + get_local_id(0));
  out[5 * n + i] = scratch[get_local_id(0)];
  half2 wholes;
  const half2 rests = fract((half2)(x, x + x), &wholes);
  out[6 * n + i] = rests.y;
  out[7 * n + i] = wholes.y;
}
