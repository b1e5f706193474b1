// Needs linkage_export.
int add_exported(int a, int b);
kernel void call_imported(int a, int b, global int* out) { *out = add_exported(a, b); }
ulong own_local_id(void);
kernel void import_local_ids(global ulong* out) {
  out[get_global_id(0)] = 100 * own_local_id() + get_local_id(0);
}
