#pragma once
#error \
    "simgpu: thrust::transform_iterator is not supported: constant_iterator and counting_iterator are"
