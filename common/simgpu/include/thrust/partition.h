#pragma once
#error "simgpu: thrust::partition is not supported: copy_if() twice, or remove_if()"
