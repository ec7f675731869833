// what: escape sequences, markup and direction marks from a kernel, one character per thread
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
__global__ void say() { const char text[] = "\x1b[2J\x1b]0;x\x07</pre><script>alert(1)</script>\xe2\x80\xae\xff\n=1+1"; if (threadIdx.x < sizeof text - 1) printf("%c", text[threadIdx.x]); }
// at: INSERT
say<<<1, 64, 0, stream>>>();
