// what: a grid of four thousand million blocks, each of which computes
// expect: TIMEOUT ACCEPTED LOCKED
// at: INSERT
fixture_kernel<float, float><<<dim3(1, 65535, 65535), 1, 0, stream>>>(a, b, c);
