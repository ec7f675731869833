#pragma once
#include "../simgpu/thrust_more.h"
