// Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#error "simgpu: cuSPARSE is not supported: write the sparse product as a kernel"
