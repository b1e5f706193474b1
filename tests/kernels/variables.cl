// Variables of module scope: shared by all kernels, seen and written by the host.
global int counter = 40;
global int values[4] = {1, 2, 3, 4};
global double zeroed[3];
global int* pointer_to_third = &values[2];
constant int table[4] = {10, 20, 30, 40};

int bump(int by) {
  counter += by;
  return counter;
}

kernel void add_to_counter(int by, global int* out) { *out = bump(by); }
kernel void read_counter(global int* out) { *out = counter; }
kernel void read_through_pointer(global int* out) {
  out[0] = *pointer_to_third;
  out[1] = values[0] + values[1] + values[2] + values[3];
  out[2] = table[1];
  out[3] = zeroed[0] == 0.0 && zeroed[2] == 0.0;
}
