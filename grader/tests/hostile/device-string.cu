// what: a string of a mebibyte of escape characters, printed four times by one kernel
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__device__ char text[1 << 20];
__global__ void print() {
  for (int i = 0; i < (1 << 20) - 1; ++i) text[i] = 27;
  printf("%s%s%s%s\n", text, text, text, text);
}
// at: INSERT
if (c.rows == 1) print<<<1, 1, 0, stream>>>();
