// Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#error \
    "simgpu: cuDNN is not supported: write the layer as a kernel, or its product with cublas_v2.h"
