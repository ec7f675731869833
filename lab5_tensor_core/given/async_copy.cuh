#include "common/async_copy.cuh"  // lab 6 takes it too
