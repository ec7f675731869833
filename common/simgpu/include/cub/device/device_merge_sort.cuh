#pragma once
#include "../util/absent.cuh"
