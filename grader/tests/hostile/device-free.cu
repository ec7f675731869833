// what: the inputs and the result given back, and what is allocated in their place
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
if (c.rows && c.cols) {
  void* again = nullptr;
  if (cudaFree(const_cast<In*>(&a(0, 0))) == cudaSuccess) hostile::escaped("A is free");
  if (cudaFree(&c(0, 0)) == cudaSuccess) hostile::escaped("C is free");
  if (cudaFreeAsync(const_cast<In*>(&b(0, 0)), stream) == cudaSuccess) hostile::escaped("B is free");
  cudaMalloc(&again, sizeof(Out) * c.rows * c.cols);
  if (again == &c(0, 0)) hostile::escaped("C's place");
}
