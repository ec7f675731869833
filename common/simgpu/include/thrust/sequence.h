#pragma once
#include "../simgpu/thrust_algorithms.h"
