// Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#error "simgpu: compiling kernels at run time is not supported: write them in the file"
