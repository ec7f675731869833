#pragma once
#error "simgpu: thrust::reverse_iterator is not supported: constant_iterator and counting_iterator are"
