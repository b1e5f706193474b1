// What other modules import.
global int exported_value = 7;
int add_exported(int a, int b) { return a + b + exported_value; }
kernel void set_exported(int value) { exported_value = value; }
