// Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#error "simgpu: cuRAND's generators of the host are not supported: curand_kernel.h is, or <random>"
