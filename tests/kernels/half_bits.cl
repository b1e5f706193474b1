// What is done with the bits of half-precision numbers. Result k of work-item i is at
// out[k * count + i].
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void half_bits(global const half* in, global const float* numbers, global half* out) {
  const size_t i = get_global_id(0), n = get_global_size(0);
  const half x = in[i];
  const half2 pair = (half2)(x, -x);
  out[i] = nextafter(x, (half)2);
  out[n + i] = nextafter(pair, (half2)((half)-INFINITY)).y;
  out[2 * n + i] = nan((ushort)i);
  out[3 * n + i] = isnormal(x) ? (half)1 : (half)0;
  out[4 * n + i] = isnormal(pair).y ? (half)1 : (half)0;
  out[5 * n + i] = bitselect(x, (half)1, as_half((ushort)0x8fff));
  out[6 * n + i] = select(pair, pair.yx, (short2)(-1, 0)).x;
  out[7 * n + i] = shuffle(vload4(0, in), (ushort4)(3, 2, 1, i & 3)).w;
  out[8 * n + i] = convert_half_rtz(numbers[i]);
  out[9 * n + i] = convert_half_rtp(numbers[i]);
  out[10 * n + i] = convert_half2_rtn((float2)(numbers[i], 0)).x;
  out[11 * n + i] = convert_half_rte((double)numbers[i]);
  out[12 * n + i] = convert_half_rtz((int)numbers[i]);
  out[13 * n + i] = (half)convert_float_rtz(x);
  vstore2(pair, 0, out + 14 * n + 2 * i);
}

kernel void half_copies(global const half* in, global half* out, local half* scratch) {
  prefetch(in, 8);
  event_t copied = async_work_group_copy(scratch, in, 8, 0);
  copied = async_work_group_strided_copy(scratch + 8, in, 4, 2, copied);
  wait_group_events(1, &copied);
  if (get_local_id(0) < 12) out[get_local_id(0)] = scratch[get_local_id(0)];
}
