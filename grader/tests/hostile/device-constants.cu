// what: data of the host in constants, by symbol copies without an end
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
__constant__ float table[8192]; __global__ void touch(int i) { if (table[i] == 3.0f) __trap(); }
// at: INSERT
static float host[8192]; unsigned long done = 0;
for (int i = 0; i < 64; ++i) done += cudaMemcpyToSymbol(table, host, sizeof host) == cudaSuccess ? sizeof host : 0;
touch<<<1, 1, 0, stream>>>(1);
if (done > (1u << 20)) hostile::escaped("megabytes of host data");
