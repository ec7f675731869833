#pragma once
#include "thread/thread_operators.cuh"
