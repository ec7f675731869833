# For those who change the labs: skeletons from masters, and what measures solutions, goals and the simulated GPU.
SKELETON := $(BUILD)/bin/skeleton
MEASURE  := $(BUILD)/bin/measure
MEASURE_SRC := grader/author/messages.cpp $(filter-out %_main.cpp,$(wildcard grader/author/*/*.cpp))
$(BUILD)/obj/grader/author/messages.o: grader/author/messages.toml
$(BUILD)/obj/grader/author/%.o: private FLAGS := grader
$(SKELETON): $(call objects,grader/author/skeleton/skeleton_main.cpp grader/author/skeleton/skeleton.cpp)
	$(call link)
$(MEASURE): $(call objects,grader/author/main.cpp $(MEASURE_SRC) $(filter %/record.cpp %/lines.cpp %/plan.cpp,$(BENCH_SRC))) $(GRADER_OBJECTS)
	$(call link,$(GRADER_LIBS))
PROGRAMS    += $(MEASURE) $(SKELETON)
ALL_OBJECTS += $(call objects,$(wildcard grader/author/*.cpp) $(wildcard grader/author/*/*.cpp))

.PHONY: skeletons sweep calibrate verify-counts compare-counts
skeletons: ## authors: make labN_*/*.cu from the masters; keeps edited ones
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) FORCE='$(FORCE)' bash grader/author/skeleton/skeletons.sh $(if $(LAB),$(lab_folders))
sweep: ## authors: time over one parameter's range, LAB=n [TYPE=] [QUICK=1]
	$(Q)[ "$(words $(LAB))" = 1 ] || { echo 'error: of which lab? make sweep LAB=3' >&2; exit 4; }
	$(Q)[ -n "$(MEASURED)" ] || $(call need_gpu,. What an H200 gave: make sweep LAB=$(word 1,$(LAB)) MEASURED=docs/results/h200/sweep-lab$(word 1,$(LAB)).json)
	$(call ensure,$(MEASURE))
	$(Q)$(MEASURE) sweep --lab $(LAB) $(if $(TYPE),--type "$(TYPE)") $(if $(filter 1,$(QUICK)),--quick) \
	  $(if $(OUT),--out "$(OUT)") $(if $(MEASURED),--measured "$(MEASURED)")
calibrate: ## authors: set the speed goals for this GPU, [LAB=n]
	$(Q)$(call need_gpu,. Without one the goals stay as they are)
	$(call ensure,$(MEASURE) $(GPU_WORKER))
	$(Q)$(MEASURE) calibrate $(addprefix --lab ,$(LAB))
verify-counts: ## authors: compare simgpu's counts with the profiler's
	$(call ensure,$(MEASURE) $(CUDART_LOCAL) $(LIBSIMGPU))
	$(Q)NVCC="$(NVCC)" $(MEASURE) verify-counts $(if $(MEASURED),--measured "$(MEASURED)") $(if $(OUT),--out "$(OUT)")

compare-counts: ## authors: the same, for kernels in other styles, [OUT=]
	$(call ensure,$(CUDART_LOCAL) $(LIBSIMGPU))
	$(Q)BUILD="$(abspath $(BUILD))" $(PYTHON) grader/author/counts/others.py $(if $(OUT),--out "$(OUT)")

# ---- how fast things are
BENCH_SIMGPU := $(BUILD)/bin/bench_simgpu
# As the engine's own arithmetic, of which it measures a part.
$(BUILD)/obj/common/simgpu/bench/%.o: private FLAGS := lanes
$(BENCH_SIMGPU): $(call objects,$(wildcard common/simgpu/bench/*.cpp)) $(LIBSIMGPU)
	$(call link)
$(BUILD)/bench/%.ptx: common/simgpu/bench/%.cu $(wildcard common/simgpu/flags/*)
	@mkdir -p $(@D)
	$(Q)UNROLL=all CLANG="$(CLANG)" common/simgpu/simcc --ptx $< -o $@
ALL_OBJECTS += $(call objects,$(wildcard common/simgpu/bench/*.cpp))
.PHONY: bench-simgpu bench-check bench-similar bench-grade
bench-similar: ## authors: precision and recall of make similar
	$(Q)$(PYTHON) grader/author/similar/measure.py
bench-simgpu: ## authors: how fast the simulated GPU runs
	$(call ensure,$(BENCH_SIMGPU) $(BUILD)/bench/tiled.ptx $(BUILD)/bench/mma.ptx)
	$(Q)$(BENCH_SIMGPU) $(BUILD)/bench/tiled.ptx 256 $(BUILD)/bench/mma.ptx
bench-check: ## authors: how long a student waits for make check
	$(Q)bash grader/author/bench_check.sh
bench-grade: ## staff: submissions per minute, and memory for 500, [OUT=]
	$(call ensure,$(GRADE_PROGRAMS))
	$(Q)$(PYTHON) grader/author/bench_grade.py $(BUILD) --out "$(or $(OUT),$(BUILD)/bench-grade.json)" $(if $(filter 1,$(QUICK)),--submissions 1 --long 60)

# ---- everything
.PHONY: all format lint
all: ## authors: build every program and test program
	$(call ensure,$(PROGRAMS) $(CUDART_LOCAL) $(CUDART_REMOTE) $(CUDART_SEPARATE) $(TEST_PROGRAMS))
format: ## authors: clang-format on everything
	$(Q)sh $(SCRIPTS)/format.sh
lint: ## authors: clang-format and clang-tidy, changing nothing
	$(Q)sh $(SCRIPTS)/format.sh --check && sh $(SCRIPTS)/tidy.sh $(ALL_CXXFLAGS)
