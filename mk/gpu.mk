# The programs that run on a GPU: the timing worker, our own process there, and what measures the roofline's ceilings.
# Only where there is a GPU to run them.
GPU_WORKER := $(BUILD)/bin/gpu_worker
GPU_HERE   := $(if $(filter-out sim,$(DEVICE)),$(if $(GPU_ARCH),$(if $(shell command -v $(NVCC)),1)))
# For commands that are nothing without one, before anything is built: $(call need_gpu,and what to do instead).
need_gpu = [ -n "$(GPU_HERE)" ] || { echo "error: make $@ needs an NVIDIA GPU and nvcc, and not both are here (make doctor)$(1)" >&2; exit 3; }
# For those that have something to show without: the same line, and on they go.
no_gpu_note = [ -n "$(GPU_HERE)" ] || echo "make $@: no NVIDIA GPU with nvcc here (make doctor): $(1)"
NVCC_FLAGS = -std=c++17 -O3 -I. -gencode arch=compute_$(1),code=sm_$(1)
$(GPU_WORKER): $(wildcard grader/gpu/*.cu grader/gpu/*.cuh grader/gpu/*.hpp common/*.cuh common/wire/*.hpp) $(BUILD)/nvcc_flags
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(NVCC) $(call NVCC_FLAGS,$(ARCH)) grader/gpu/worker_main.cu -o $@ -ldl || \
	  { rm -f $@; [ $(DEVICE) = auto ] && echo "warning: nvcc does not compile the timing worker: speed is not judged" >&2; }
BENCH_CEILINGS := $(BUILD)/bin/bench_ceilings
$(BENCH_CEILINGS): grader/bench/ceilings.cu $(wildcard common/*.cuh grader/bench/*.cuh grader/gpu/statistics.?pp) $(BUILD)/nvcc_flags
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(NVCC) $(call NVCC_FLAGS,$(ARCH:90=90a)) $< -o $@ || \
	  { rm -f $@; echo "warning: nvcc does not compile $<: the roofline is left out" >&2; }
ifneq ($(shell cat $(BUILD)/nvcc_flags 2>/dev/null),$(strip $(NVCC) $(ARCH)))
$(BUILD)/nvcc_flags: always
endif
$(BUILD)/nvcc_flags:
	@[ -e $(BUILD) ] || sh $(SCRIPTS)/new_build.sh $(BUILD); echo '$(strip $(NVCC) $(ARCH))' >$@
