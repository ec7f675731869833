#pragma once
#error \
    "simgpu: thrust::permutation_iterator is not supported: constant_iterator and counting_iterator are"
