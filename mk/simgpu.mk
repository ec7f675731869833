# The simulated GPU: the engine, the CUDA runtime on it (here or behind a socket), and the other end of that socket.
SIMGPU_SRC := $(wildcard common/simgpu/*.cpp $(foreach d,ptx exec exec/kernels memory check count,common/simgpu/$(d)/*.cpp))
LIBSIMGPU  := $(BUILD)/lib/libsimgpu.a
$(foreach d,check count exec memory,$(BUILD)/obj/common/simgpu/$(d)/%.o): private FLAGS := lanes
$(BUILD)/obj/common/simgpu/runtime/%.o: private FLAGS := grader

in = $(patsubst %,common/simgpu/$(1)/%.cpp,$(2))
$(call unit,common/simgpu/exec/blocks,$(call in,exec,barriers blocks builtins cluster clusters collective handlers interpreter \
  matrix_moves workers))
$(call unit,common/simgpu/exec/copies,$(call in,exec,async_copy bulk_reduce bulk_tensor changed_maps early_launch memory_ops param_ops processor resolve \
  sampling sharing short_lived swaps wgmma))
$(call unit,common/simgpu/exec/products,$(call in,exec,decode_moves math_calls mma pattern product_registers race_checks unset unset_bits unset_marks unset_products \
  wmma wrappers))
$(call unit,common/simgpu/exec/decoding,$(call in,exec,decode decode_alu decode_memory decode_proxy order))
$(call unit,common/simgpu/exec/proxies,$(call in,exec,bulk_copy mbarrier proxy_checks))
$(call unit,common/simgpu/device,$(patsubst %,common/simgpu/%.cpp,device loaded launch_shape check/finding_log count/load_merging))
$(call unit,common/simgpu/count/count,$(patsubst %,common/simgpu/%.cpp,check/exact_shadow memory/global_memory) \
  $(call in,count,coalescing alignment doubled_sums fused_sums occupancy shared_banks store_merging struct_copies swap_turns))
$(call unit,common/simgpu/count/local,$(call in,count,early_reads local_arrays local_vectors))
$(call unit,common/simgpu/totals,common/simgpu/report.cpp $(call in,exec,fold program))
$(call unit,common/simgpu/ptx/parsing,$(filter-out %/names.cpp %/opcodes.cpp,$(wildcard common/simgpu/ptx/*.cpp)))

# What runs once for a module or a launch is not optimised: it is compiled as the grader is, in a third of the time.
# (Seconds of a processor: 13.6 with -O1, 8.2 so, fold and program in it, which run for every count. The parser as well:
# 5 less, and 0.8 more in the check of labs 1 to 5, 1.5 %.) What runs seldom beside the lanes has -O1.
COLD := $(call objects,$(patsubst %,common/simgpu/%.cpp,device loaded launch_shape check/finding_log count/load_merging) \
  $(call in,exec,decode decode_alu decode_memory decode_proxy order) $(call in,count,early_reads local_arrays local_vectors))
LIGHT := $(call objects,common/simgpu/report.cpp $(call in,exec,fold program mbarrier bulk_copy proxy_checks) $(wildcard common/simgpu/ptx/*.cpp))
$(COLD): private FLAGS := grader
$(LIGHT): private FLAGS := light

LIBSERVER     := $(BUILD)/lib/libsimgpu_server.a
SIMGPU_DEVICE := $(BUILD)/bin/simgpu_device

SIM_NEEDS = $(CUDART_LOCAL) $(LIBSIMGPU)
# In the order in which the linker is to take copies of a template's functions (mk/toolchain.mk).
$(LIBSIMGPU): $(filter-out $(LIGHT) $(COLD),$(call objects,$(SIMGPU_SRC))) $(LIGHT) $(COLD)
$(LIBSERVER): $(call objects,$(wildcard common/simgpu/runtime/server/*.cpp))
$(LIBSIMGPU) $(LIBSERVER):
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)
$(SIMGPU_DEVICE): $(call objects,$(wildcard common/simgpu/runtime/program/*.cpp)) $(CUDART_LOCAL) $(LIBSIMGPU)
	$(call link)
PROGRAMS    += $(SIMGPU_DEVICE)
ALL_OBJECTS += $(call objects,$(SIMGPU_SRC) $(wildcard common/simgpu/runtime/*/*.cpp))
