// Functions of vectors that do not fit into one register of any processor, one number of a vector a
// work-item: result k of number i is at out[k * 16 + i].

kernel void wide_doubles(global const double* in, global double* out) {
  const double16 x = vload16(0, in);
  double16 cosines;
  int16 quotients;
  vstore16(sin(x), 0, out);
  vstore16(pow(x, x / 2), 1, out);
  vstore16(sincos(x, &cosines), 2, out);
  vstore16(cosines, 3, out);
  vstore16(remquo(x, (double16)(0.75), &quotients), 4, out);
  vstore16(convert_double16(quotients & 7), 5, out);
  vstore16(ldexp(x, convert_int16(x)), 6, out);
}

kernel void wide_floats(global const float* in, global float* out, global half* halves) {
  const float16 x = vload16(0, in);
  vstore16(cosh(x), 0, out);
  vstore16(half_exp(x), 1, out);
  vstore8(log2(x.lo), 4, out);
  vstore8(half_divide(x.hi, x.lo), 5, out);
  vstore_half16_rtz(convert_double16(x), 0, halves);
  vstorea_half3_rtp(convert_double3(x.s012), 5, halves);
}
