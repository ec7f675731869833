// what: a launch that waits for the one behind it, by griddepcontrol and a flag, and thousands that let others begin
// expect: TIMEOUT ACCEPTED LOCKED
// at: GLOBAL
__device__ volatile int flag;
__global__ void early(int wait) {
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\ngriddepcontrol.launch_dependents;");
  if (wait) while (flag == 0) {}
  flag = 1;
}
// at: INSERT
cudaLaunchAttribute allowed{}; allowed.id = cudaLaunchAttributeProgrammaticStreamSerialization; allowed.val.programmaticStreamSerializationAllowed = 1;
cudaLaunchConfig_t config{}; config.gridDim = 1; config.blockDim = 32; config.stream = stream; config.attrs = &allowed; config.numAttrs = 1;
for (int i = 0; i < 1000; ++i) cudaLaunchKernelEx(&config, early, (i + 1) % 2);
