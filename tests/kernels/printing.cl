// What kernels print.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void print_vectors(int number) {
  printf("%d %s %.2f|", number, "text", 1.5f);
  printf("%v2hhd %v3hhd %v4hhd|", (char2)(1, -2), (char3)(1, -2, 3), (char4)(1, -2, 3, -4));
  printf("%v2hd %v3hd %v4hd|", (short2)(1, -2), (short3)(1, -2, 3), (short4)(1, -2, 3, -4));
  printf("%v3hld %v2ld|", (int3)(1, -2, 3), (long2)(1, -2));
  printf("%v2hg %v3hg %v16hg|", (half2)(1, 2), (half3)(1, 2, 3), (half16)(4));
  printf("%v4hlg %v2lg\n", (float4)(1, 2, 3, 4), (double2)(1, 2));
}

// So many reads that the function behind them does not become part of the kernel by itself.
float4 read_and_print(read_only image2d_t image, sampler_t sampler, int2 place) {
  float4 sum = read_imagef(image, sampler, place) + read_imagef(image, sampler, place + 1);
  printf("<%d>", (int)sum.x);
  sum += place.x > 2 ? read_imagef(image, sampler, place) : read_imagef(image, sampler, -place);
  return sum;
}

kernel void print_pixels(read_only image2d_t image, sampler_t sampler, global float4* out) {
  int2 place = (int2)((int)get_global_id(0), 0);
  float4 sum = 0;
  for (int i = 0; i < 2; ++i) {
    sum += read_imagef(image, sampler, place + i) + read_imagef(image, place);
    sum += read_and_print(image, sampler, place);
    if (sum.x > 1000) return;
    sum += read_and_print(image, sampler, place + 1);
    sum += read_imagef(image, sampler, place) + read_imagef(image, sampler, place);
  }
  printf("(%d)\n", (int)sum.x);
  out[get_global_id(0)] = sum;
}
