#pragma once
#error "simgpu: thrust::zip_iterator is not supported: constant_iterator and counting_iterator are"
