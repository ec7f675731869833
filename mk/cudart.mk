# The CUDA runtime, three times: on a device in the program itself (local), on the judge's (remote), and on one in a
# program beside it (separate). Each is compiled as one unit: the standard library is read once and not sixteen times.
CUDART_LOCAL    := $(BUILD)/lib/libsimgpu_cudart_local.a
CUDART_REMOTE   := $(BUILD)/lib/libsimgpu_cudart_remote.a
CUDART_SEPARATE := $(BUILD)/lib/libsimgpu_cudart_separate.a
cudart_sources = $(wildcard common/simgpu/runtime/api/*.cpp common/simgpu/runtime/$(1)/*.cpp)
$(CUDART_LOCAL): $(call cudart_sources,local)
$(CUDART_REMOTE): $(call cudart_sources,remote)
$(CUDART_SEPARATE): $(call cudart_sources,separate) $(BUILD)/folder # it names the device's program
$(CUDART_LOCAL) $(CUDART_REMOTE) $(CUDART_SEPARATE):
	@mkdir -p $(@D) $(dir $(SIMGPU_DEVICE)); $(call progress,$(@F))
	$(Q){ printf '#define SIMGPU_DEVICE_PROGRAM "%s/simgpu_device"\n' "$$(cd $(dir $(SIMGPU_DEVICE)) && pwd)"; \
	  printf '#include "%s"\n' $(filter common/%.cpp,$^); } >$(@:.a=.cpp) && \
	  $(CLANG) -std=c++20 -pthread -I. -MMD -MP -MT $@ -c $(@:.a=.cpp) -o $(@:.a=.o) && \
	  rm -f $@ && ar rcs $@ $(@:.a=.o)
-include $(wildcard $(BUILD)/lib/*.d)
