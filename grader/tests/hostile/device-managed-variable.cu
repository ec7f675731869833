// what: an element of A that a kernel puts where the host can read it: a managed variable
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__managed__ float seen[64];
__global__ void peek(const float* p) { seen[0] = p[0]; }
// at: INSERT
seen[0] = 0;
if (a.rows && a.cols) peek<<<1, 1, 0, stream>>>(a.data);
cudaStreamSynchronize(stream);
if (seen[0] != 0) hostile::escaped("an element of A");
