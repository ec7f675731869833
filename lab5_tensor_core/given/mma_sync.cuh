#include "common/mma_sync.cuh"  // lab 6 takes it too
