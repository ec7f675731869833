#pragma once
#error "simgpu: thrust's allocators are not supported: device_vector allocates with cudaMalloc"
