#pragma once
#error "simgpu: thrust's set operations are not supported: sort and merge, or write a kernel"
