#pragma once
#error "simgpu: thrust::discard_iterator is not supported: constant_iterator and counting_iterator are"
