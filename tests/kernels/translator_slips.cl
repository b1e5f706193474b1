// What LLVM's translator writes into SPIR-V 1.4 though that version has it no more, or wants it
// otherwise: weak exchanges, and variables that are used only by way of others.

global int counter = 7;
global int* global counter_pointer = &counter;

kernel void add_by_exchange(global int* out) {
  const int zeros[8] = {0};
  volatile atomic_int* place = (volatile atomic_int*)(out + 1);
  int seen = zeros[get_local_id(0) & 7];
  while (!atomic_compare_exchange_weak(place, &seen, seen + 1)) {
  }
  if (get_local_id(0) == 0) out[0] = *counter_pointer;
}
