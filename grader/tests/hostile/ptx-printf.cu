// what: a format with widths of gigabytes and strings that are nowhere
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void odd() { printf("%2000000000d|%.2000000000f|%*d|%s|%ls|%n|%", 1, 1.0, 2000000000, 5, (const char*)16, (const void*)16, (int*)16); }
// at: INSERT
odd<<<1, 32, 0, stream>>>();
