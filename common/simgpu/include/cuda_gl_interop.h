// Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#error "simgpu: OpenGL is not supported: copy the image to the host and write it to a file"
