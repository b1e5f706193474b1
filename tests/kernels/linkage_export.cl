// What other modules import.
global int exported_value = 7;
int add_exported(int a, int b) { return a + b + exported_value; }
ulong own_local_id(void) { return get_local_id(0); }
kernel void export_local_ids(global ulong* out) { out[get_global_id(0)] = get_local_id(0); }
kernel void set_exported(int value) { exported_value = value; }
