# The simulated GPU: the engine, the CUDA runtime on it (here or behind a socket), and the other end of that socket.
SIMGPU_SRC := $(wildcard common/simgpu/*.cpp $(foreach d,ptx exec exec/kernels memory check count,common/simgpu/$(d)/*.cpp))
LIBSIMGPU  := $(BUILD)/lib/libsimgpu.a
$(foreach d,check count exec memory,$(BUILD)/obj/common/simgpu/$(d)/%.o): private FLAGS := lanes
$(BUILD)/obj/common/simgpu/runtime/%.o: private FLAGS := grader
$(BUILD)/obj/common/simgpu/ptx/%.o $(patsubst %,$(BUILD)/obj/common/simgpu/%.o, \
  device report check/finding_log exec/fold count/load_merging \
  exec/decode exec/decode_alu exec/decode_memory exec/decode_proxy exec/order exec/program exec/mbarrier exec/bulk_copy exec/proxy_checks): private FLAGS := light

LIBSERVER     := $(BUILD)/lib/libsimgpu_server.a
SIMGPU_DEVICE := $(BUILD)/bin/simgpu_device

SIM_NEEDS = $(CUDART_LOCAL) $(LIBSIMGPU)
$(LIBSIMGPU): $(call objects,$(SIMGPU_SRC))
$(LIBSERVER): $(call objects,$(wildcard common/simgpu/runtime/server/*.cpp))
$(LIBSIMGPU) $(LIBSERVER):
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
$(SIMGPU_DEVICE): $(call objects,$(wildcard common/simgpu/runtime/program/*.cpp)) $(CUDART_LOCAL) $(LIBSIMGPU)
	$(call link)
PROGRAMS    += $(SIMGPU_DEVICE)
ALL_OBJECTS += $(call objects,$(SIMGPU_SRC) $(wildcard common/simgpu/runtime/*/*.cpp))
