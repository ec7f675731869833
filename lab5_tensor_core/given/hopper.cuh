#include "common/hopper.cuh"  // lab 6 takes it too
