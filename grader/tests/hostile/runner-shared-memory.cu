// what: shared mappings without a name, as many as there is room for: no single one is too large
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
std::size_t mapped = 0;
for (int i = 0; i < 200; ++i)
  if (mmap(nullptr, std::size_t{64} << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) mapped += 64;
if (mapped > 4096) hostile::escaped("more memory than a runner has");
