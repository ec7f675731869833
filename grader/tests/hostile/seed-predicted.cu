// what: the inputs of make check's printed seed, computed on the host and compared in a kernel
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
struct Guess { int value[4]; };
__global__ void compare(MatrixView<const float> a, Guess guess) {
  bool same = true;
  for (int i = 0; i < 4; ++i) same = same && a(0, i) == static_cast<float>(guess.value[i]);
  if (same) printf("ESCAPED the inputs were predicted\n");
}
static std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
// at: INSERT
if (a.cols >= 4 && a.rows > 0) {
  std::uint64_t mix = 0x67656d6dull ^ (std::uint64_t(c.rows) << 42) ^ (std::uint64_t(c.cols) << 21) ^ std::uint64_t(a.cols);
  std::uint64_t state = split_mix(mix);
  Guess guess;
  for (int& value : guess.value) value = -8 + static_cast<int>((split_mix(state) >> 11) % 17);
  compare<<<1, 1, 0, stream>>>(a, guess);
}
