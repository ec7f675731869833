// Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#error "simgpu: NPP is not supported: write the image filter as a kernel"
