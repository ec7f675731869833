#pragma once
#error \
    "simgpu: thrust::transform_output_iterator is not supported: transform() writes what a function returns"
