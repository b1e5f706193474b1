// Images and samplers: one access a work-item, at the place that a buffer says.

#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

kernel void sample_1d(read_only image1d_t image, sampler_t sampler, global const float4* at,
                      global float4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(image, sampler, at[i].x);
}

kernel void sample_1d_array(read_only image1d_array_t image, sampler_t sampler,
                            global const float4* at, global float4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(image, sampler, at[i].xy);
}

kernel void sample_2d(read_only image2d_t image, sampler_t sampler, global const float4* at,
                      global float4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(image, sampler, at[i].xy);
}

kernel void sample_2d_array(read_only image2d_array_t image, sampler_t sampler,
                            global const float4* at, global float4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(image, sampler, at[i]);
}

kernel void sample_3d(read_only image3d_t image, sampler_t sampler, global const float4* at,
                      global float4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(image, sampler, at[i]);
}

kernel void sample_integer_places(read_only image2d_t image, sampler_t sampler,
                                  global const int4* at, global uint4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imageui(image, sampler, at[i].xy);
}

kernel void read_floats(read_only image2d_t image, global const int4* at, global float4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagef(image, at[i].xy);
}

kernel void read_unsigned(read_only image2d_t image, global const int4* at, global uint4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imageui(image, at[i].xy);
}

kernel void read_signed(read_only image2d_t image, global const int4* at, global int4* out) {
  const size_t i = get_global_id(0);
  out[i] = read_imagei(image, at[i].xy);
}

kernel void write_floats(write_only image2d_t image, global const int4* at,
                         global const float4* in) {
  const size_t i = get_global_id(0);
  write_imagef(image, at[i].xy, in[i]);
}

kernel void write_unsigned(write_only image2d_t image, global const int4* at,
                           global const uint4* in) {
  const size_t i = get_global_id(0);
  write_imageui(image, at[i].xy, in[i]);
}

kernel void write_signed(write_only image2d_t image, global const int4* at,
                         global const int4* in) {
  const size_t i = get_global_id(0);
  write_imagei(image, at[i].xy, in[i]);
}

kernel void write_1d(write_only image1d_t image, global const int4* at, global const uint4* in) {
  const size_t i = get_global_id(0);
  write_imageui(image, at[i].x, in[i]);
}

kernel void write_1d_array(write_only image1d_array_t image, global const int4* at,
                           global const uint4* in) {
  const size_t i = get_global_id(0);
  write_imageui(image, at[i].xy, in[i]);
}

kernel void write_2d_array(write_only image2d_array_t image, global const int4* at,
                           global const uint4* in) {
  const size_t i = get_global_id(0);
  write_imageui(image, at[i], in[i]);
}

kernel void write_3d(write_only image3d_t image, global const int4* at, global const uint4* in) {
  const size_t i = get_global_id(0);
  write_imageui(image, at[i], in[i]);
}

kernel void increment_buffer(read_only image1d_buffer_t in, write_only image1d_buffer_t out) {
  const int i = (int)get_global_id(0);
  write_imageui(out, i, read_imageui(in, i) + 1u);
}

kernel void increment_in_place(read_write image2d_t image) {
  const int2 at = {(int)get_global_id(0), (int)get_global_id(1)};
  const uint4 pixel = read_imageui(image, at);
  write_imageui(image, at, pixel + 1u);
}

constant sampler_t at_edge =
    CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

static float4 mean_of(read_only image2d_t image, sampler_t sampler, float2 at, float step) {
  return 0.5f * (read_imagef(image, sampler, at) + read_imagef(image, sampler, at + step));
}

// A sampler of the program's own, handed down to a function that is called twice.
kernel void sample_with_own_sampler(read_only image2d_t image, global const float4* at,
                                    global float4* out) {
  const sampler_t beyond = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  const size_t i = get_global_id(0);
  out[2 * i] = mean_of(image, at_edge, at[i].xy, 0.25f);
  out[2 * i + 1] = mean_of(image, beyond, at[i].xy, 2.0f);
}

// Half of the items of a group wait for the others' pixels.
kernel void transpose_through_local(read_only image2d_t in, write_only image2d_t out,
                                    local uint4* tile) {
  const int x = (int)get_local_id(0), y = (int)get_local_id(1), n = (int)get_local_size(0);
  const int2 base = {(int)get_group_id(0) * n, (int)get_group_id(1) * n};
  tile[y * n + x] = read_imageui(in, base + (int2)(x, y));
  barrier(CLK_LOCAL_MEM_FENCE);
  write_imageui(out, base.yx + (int2)(x, y), tile[x * n + y]);
}

// Pixels read between operations of the whole group, for which its items run apart.
kernel void add_pixels_of_group(read_only image2d_t in, sampler_t sampler, global uint* out) {
  const int2 at = {(int)get_global_id(0), (int)get_global_id(1)};
  const uint sum = work_group_reduce_add(read_imageui(in, at).x);
  const uint most = work_group_reduce_max(read_imageui(in, sampler, at).x);
  const size_t group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  if (get_local_linear_id() == 0) {
    out[2 * group] = sum;
    out[2 * group + 1] = most;
  }
}

// Every pixel becomes the sum of those that its sub-group has read.
kernel __attribute__((intel_reqd_sub_group_size(8))) void sums_of_sub_groups(
    read_only image2d_t in, write_only image2d_t out) {
  const int2 place = {(int)get_global_id(0), (int)get_global_id(1)};
  const uint sum = sub_group_reduce_add(read_imageui(in, place).x);
  write_imageui(out, place, (uint4)(sum, 0, 0, 0));
}

kernel void describe_1d(read_only image1d_t image, global int* out) {
  out[0] = get_image_width(image);
  out[1] = get_image_channel_data_type(image) - CLK_SNORM_INT8;
  out[2] = get_image_channel_order(image) - CLK_R;
}

kernel void describe_1d_array(read_only image1d_array_t image, global int* out) {
  out[0] = get_image_width(image);
  out[1] = (int)get_image_array_size(image);
}

kernel void describe_2d(read_only image2d_t image, global int* out) {
  const int2 size = get_image_dim(image);
  out[0] = get_image_width(image);
  out[1] = get_image_height(image);
  out[2] = size.x;
  out[3] = size.y;
  out[4] = get_image_channel_data_type(image) - CLK_SNORM_INT8;
  out[5] = get_image_channel_order(image) - CLK_R;
}

kernel void describe_2d_array(read_only image2d_array_t image, global int* out) {
  out[0] = get_image_width(image);
  out[1] = get_image_height(image);
  out[2] = (int)get_image_array_size(image);
}

kernel void describe_3d(read_only image3d_t image, global int* out) {
  const int4 size = get_image_dim(image);
  out[0] = get_image_width(image);
  out[1] = get_image_height(image);
  out[2] = get_image_depth(image);
  out[3] = size.z;
}

kernel void describe_buffer(read_only image1d_buffer_t image, global int* out) {
  out[0] = get_image_width(image);
}
