// Arguments of every kind.
typedef struct {
  char tag;
  double weight;
  int counts[3];
  short last;
} item;

kernel void by_value(global double* out, char c, uchar uc, short s, ushort us, int i, uint ui, long l,
                     ulong ul, float f, double d) {
  out[0] = c;
  out[1] = uc;
  out[2] = s;
  out[3] = us;
  out[4] = i;
  out[5] = ui;
  out[6] = l;
  out[7] = ul;
  out[8] = f;
  out[9] = d;
}

kernel void vectors(global float* out, float2 two, float3 three, float4 four, float16 sixteen) {
  out[0] = two.x + two.y;
  out[1] = three.x + three.y + three.z;
  out[2] = four.x + four.y + four.z + four.w;
  out[3] = sixteen.s0 + sixteen.sf;
}

kernel void structure(global double* out, item given, int after) {
  out[0] = given.tag;
  out[1] = given.weight;
  out[2] = given.counts[0] + given.counts[1] + given.counts[2];
  out[3] = given.last;
  out[4] = after;
}

kernel void null_pointers(global int* out, global int* maybe, constant int* also) {
  out[0] = maybe == 0;
  out[1] = also == 0;
  if (maybe != 0) out[2] = *maybe;
}

kernel void many_locals(local char* a, local int* b, local double* c, global ulong* out) {
  out[0] = (ulong)a % sizeof(char);
  out[1] = (ulong)b % sizeof(int);
  out[2] = (ulong)c % sizeof(double);
  a[0] = 1;
  b[0] = 2;
  c[0] = 3;
  out[3] = (ulong)(a[0] + b[0] + c[0]);
}

kernel void through_pointer(global int* global* table, uint count, global int* out) {
  int sum = 0;
  for (uint i = 0; i < count; ++i) sum += *table[i];
  *out = sum;
}

typedef struct {
  ulong in;
  uint count;
  ulong out;
} places;

kernel void pointers_by_value(places given) {
  global const int* in = (global const int*)given.in;
  global int* out = (global int*)given.out;
  int sum = 0;
  for (uint i = 0; i < given.count; ++i) sum += in[i];
  *out = sum;
}

__attribute__((reqd_work_group_size(8, 2, 1))) kernel void fixed_size(global int* out) {
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = 1;
}

__attribute__((work_group_size_hint(4, 1, 1))) kernel void hinted(global int* out) { *out = 1; }

// Has more values at a time than a processor has registers.
#define EIGHT(step, i) step(i) step(i + 1) step(i + 2) step(i + 3) step(i + 4) step(i + 5) step(i + 6) step(i + 7)
kernel void many_values(global const uint* in, global const uint* places, global uint* out) {
  uint values[32];
#define READ(i) values[i] = in[get_global_id(0) + places[i]];
  EIGHT(READ, 0) EIGHT(READ, 8) EIGHT(READ, 16) EIGHT(READ, 24)
#define ADD(i) +values[i] * (i)
  out[get_global_id(0) * 2] = 0 EIGHT(ADD, 0) EIGHT(ADD, 8) EIGHT(ADD, 16) EIGHT(ADD, 24);
#define ADD_SQUARE(i) +values[i] * values[i]
  out[get_global_id(0) * 2 + 1] =
      0 EIGHT(ADD_SQUARE, 0) EIGHT(ADD_SQUARE, 8) EIGHT(ADD_SQUARE, 16) EIGHT(ADD_SQUARE, 24);
}
