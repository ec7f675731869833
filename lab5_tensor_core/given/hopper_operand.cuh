#include "common/hopper_operand.cuh"  // lab 6 takes it too
