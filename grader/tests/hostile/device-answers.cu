// what: what the device says of itself before and after kernels that depend on data: free memory, errors, occupancy
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void depends(MatrixView<const float> a) { if (a.rows && a.cols && a(0, 0) > 0.0f) { void* kept = malloc(1 << 16); (void)kept; } }
// at: INSERT
std::size_t before = 0, after = 0, all = 0;
cudaMemGetInfo(&before, &all);
if constexpr (sizeof(In) == 4) depends<<<1, 32, 0, stream>>>(a);
cudaMemGetInfo(&after, &all);
if (before != after) hostile::escaped("a bit of A, by free memory");
