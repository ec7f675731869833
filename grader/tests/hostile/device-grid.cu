// what: a grid of two thousand million blocks that do nothing
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
__global__ void idle() {}
// at: INSERT
idle<<<2147483647, 1, 0, stream>>>();
