#pragma once
#error \
    "simgpu: thrust's memory resources are not supported: device_vector allocates with cudaMalloc"
