// Needs linkage_export.
int add_exported(int a, int b);
kernel void call_imported(int a, int b, global int* out) { *out = add_exported(a, b); }
