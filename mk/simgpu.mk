# The simulated GPU: the engine, the CUDA runtime on it (here or behind a socket), and the other end of that socket.
SIMGPU_SRC := $(wildcard common/simgpu/*.cpp $(foreach d,ptx exec exec/kernels memory check count,common/simgpu/$(d)/*.cpp))
LIBSIMGPU  := $(BUILD)/lib/libsimgpu.a
$(foreach d,check count exec memory,$(BUILD)/obj/common/simgpu/$(d)/%.o): private FLAGS := lanes
$(BUILD)/obj/common/simgpu/runtime/%.o: private FLAGS := quick
$(BUILD)/obj/common/simgpu/ptx/%.o $(patsubst %,$(BUILD)/obj/common/simgpu/%.o, \
  device report check/finding_log exec/fold count/load_merging \
  exec/decode exec/decode_alu exec/decode_memory exec/decode_proxy exec/order exec/program exec/mbarrier exec/bulk_copy exec/proxy_checks): private FLAGS := light

CUDART_API    := $(wildcard common/simgpu/runtime/api/*.cpp)
CUDART_LOCAL  := $(BUILD)/lib/libsimgpu_cudart_local.a
CUDART_REMOTE := $(BUILD)/lib/libsimgpu_cudart_remote.a
LIBSERVER     := $(BUILD)/lib/libsimgpu_server.a

$(LIBSIMGPU): $(call objects,$(SIMGPU_SRC))
$(CUDART_LOCAL): $(call objects,$(CUDART_API) $(wildcard common/simgpu/runtime/local/*.cpp))
$(CUDART_REMOTE): $(call objects,$(CUDART_API) $(wildcard common/simgpu/runtime/remote/*.cpp))
$(LIBSERVER): $(call objects,$(wildcard common/simgpu/runtime/server/*.cpp))
$(BUILD)/lib/%.a:
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
ALL_OBJECTS += $(call objects,$(SIMGPU_SRC) $(CUDART_API) $(wildcard common/simgpu/runtime/*/*.cpp))
