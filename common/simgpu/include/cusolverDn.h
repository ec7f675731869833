// Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#error "simgpu: cuSOLVER is not supported: solve on the host, for example with LAPACK"
