#pragma once
#error "simgpu: thrust::shuffle is not supported: sort_by_key() with random keys"
