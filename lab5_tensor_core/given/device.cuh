#include "common/tensor_core.cuh"  // lab 6 takes it too
