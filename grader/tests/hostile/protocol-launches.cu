// what: launches as no compiler makes them: other kernels, other arguments, other grids
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: GLOBAL
@REMOTE@
extern "C" __global__ void plain_kernel(int) {}
// at: INSERT
plain_kernel<<<1, 1, 0, stream>>>(1);
using Three = std::array<std::uint32_t, 3>;
const auto odd = [](Three grid, Three block, const char* name, std::size_t bytes) {
  if (hostile::request(hostile::launch, grid, block, std::uint32_t{0}, std::string(name), std::vector<std::byte>(bytes)) == 0) hostile::escaped("a launch that cannot be");
};
odd({1, 1, 1}, {1, 1, 1}, "plain_kernel", 0);
odd({1, 1, 1}, {1, 1, 1}, "plain_kernel", 4096);
odd({1, 1, 1}, {1, 1, 1}, "main", 4);
odd({1, 1, 1}, {1, 1, 1}, "", 4);
odd({0, 1, 1}, {1, 1, 1}, "plain_kernel", 4);
odd({1, 1, 1}, {0, 1, 1}, "plain_kernel", 4);
odd({1, 0xffffffff, 0xffffffff}, {1, 1, 1}, "plain_kernel", 4);
odd({1, 1, 1}, {65536, 65536, 1}, "plain_kernel", 4);
if (hostile::request(hostile::set_max_dynamic_shared, std::uint32_t{0xffffffff}, std::string("plain_kernel")) == 0) hostile::escaped("shared memory");
