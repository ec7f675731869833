# The only entry point of the CUDA GEMM Lab. `make` alone prints help; settings that should stay go into config.mk.

ifneq ($(filter 0.% 1.% 2.% 3.%,$(MAKE_VERSION)),)
$(error GNU make 4 or newer is needed, this is $(MAKE_VERSION) (macOS: brew install make, then gmake))
endif
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

-include config.mk

# ---- settings: command line, environment or config.mk
BUILD     ?= build
DEVICE    ?= auto
CUDA_HOME ?= $(or $(CUDA_PATH),/usr/local/cuda)
NVCC      ?= $(or $(wildcard $(CUDA_HOME)/bin/nvcc),nvcc)
GPU_ARCH := $(shell . grader/scripts/lib.sh && gpu_arch)
ifeq ($(origin ARCH),undefined)
ARCH := $(or $(GPU_ARCH),80)
else
ARCH_CHOSEN := 1
endif
OPT       ?= -O2
PYTHON    ?= python3
CXXFLAGS  ?=
ifeq ($(origin CXX),default)
CXX := $(if $(shell command -v g++),g++,clang++)
else
CXX_CHOSEN := 1
endif
ifeq ($(origin CLANG),undefined)
CLANG := $(shell . grader/scripts/lib.sh && echo "$$CLANG")
else
CLANG_CHOSEN := 1
endif
# Compilers of 0.7 GB each: no more at a time than there is memory for.
JOBS ?= $(shell awk -v cores="$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" \
  '/^MemAvailable/ { fit = int($$2 / 700000) } END { if (!fit || fit > cores) fit = cores; print fit < 1 ? 1 : fit }' \
  /proc/meminfo 2>/dev/null || echo 2)
# 90, 9.0, sm_90 and compute_90 are the same.
override ARCH := $(patsubst sm_%,%,$(patsubst compute_%,%,$(subst .,,$(ARCH))))
export BUILD PYTHON CUDA_HOME NVCC ARCH ARCH_CHOSEN CXX CXX_CHOSEN CLANG CLANG_CHOSEN DEPS

# ---- one clear error for a setting that cannot be
space := $(subst x,,x x)
LABS_HERE := $(sort $(foreach f,$(wildcard lab[0-9]*_*/lab.toml),$(patsubst lab%,%,$(firstword $(subst _, ,$(f))))))
AUTHOR_TREE := $(wildcard lab[0-9]*_*/solution/gemm.cu)
# LAB=3, LAB=lab3, LAB=lab3_shared_mem and LAB="1 3" all do.
override LAB := $(foreach l,$(subst /,,$(LAB)),$(patsubst lab%,%,$(firstword $(subst _, ,$(l)))))
ifneq ($(filter-out $(LABS_HERE),$(LAB)),)
$(error LAB=$(filter-out $(LABS_HERE),$(LAB)): there is no such lab here; there is: $(LABS_HERE))
endif
ifeq ($(filter auto sim gpu,$(DEVICE)),)
$(error DEVICE=$(DEVICE): not a device; choose auto, sim or gpu)
endif
override LABS := $(foreach l,$(subst /,,$(LABS)),$(patsubst lab%,%,$(firstword $(subst _, ,$(l)))))
ifneq ($(filter-out $(LABS_HERE),$(LABS)),)
$(error LABS=$(filter-out $(LABS_HERE),$(LABS)): there is no such lab here; there is: $(LABS_HERE))
endif
ifneq ($(filter-out 0 1,$(SOLUTION)),)
$(error SOLUTION=$(SOLUTION): choose 0 or 1)
endif
ifeq ($(filter 1,$(SOLUTION))$(AUTHOR_TREE),1)
$(error SOLUTION=1: the solutions are not part of this copy)
endif
ifneq ($(words x$(BUILD)x),1)
$(error BUILD='$(BUILD)': make cannot work in a build folder with a blank in its name; the project's own path may have one)
endif
ifneq ($(words x$(DEPS)x),1)
$(error DEPS='$(DEPS)': make cannot use a folder with a blank in its name)
endif
KNOWN_SETTINGS := BUILD DEVICE CUDA_HOME CUDA_PATH NVCC ARCH OPT CXXFLAGS CXX CLANG JOBS DEPS V LAB SOLUTION GOALS SANITIZE \
  SUBMISSIONS OUT LABS STAGE RUNG M N K TYPE LIMIT PYTHON YES FORCE JSON ONLY MEASURED QUICK PORT MAKEFLAGS MAKEOVERRIDES MAKE_VERSION SHELL
UNKNOWN_SETTINGS := $(strip $(foreach v,$(filter-out $(KNOWN_SETTINGS) GNUMAKEFLAGS MFLAGS -%,$(.VARIABLES)),\
  $(if $(filter command$(space)line,$(origin $(v))),$(v))))
ifneq ($(UNKNOWN_SETTINGS),)
$(error unknown setting $(UNKNOWN_SETTINGS); `make help` lists them)
endif

lab_folders = $(foreach n,$(or $(LAB),$(LABS_HERE)),$(wildcard lab$(n)_*))

Q := $(if $(filter 1,$(V)),,@)
SCRIPTS := grader/scripts
STAFF   := grader/staff

# ---- quiet building: one line on stderr that rewrites itself on a terminal, one line in all elsewhere
ifeq ($(filter 1,$(V)),)
ifneq ($(shell test -t 2 && echo tty),)
progress = printf '\r\033[Kbuilding %.60s' '$(1)' >&2;
progress_end = printf '\r\033[K' >&2;
else
progress = if [ -n "$$GEMM_LAB_ANNOUNCE" ] && rm "$$GEMM_LAB_ANNOUNCE" 2>/dev/null; then \
  echo 'building (a minute or two the first time) ...' >&2; fi;
endif
endif
# Checks what the machine has, then builds $(1) in a make of its own: that one sees what the set-up has just installed.
ensure = $(Q)sh $(SCRIPTS)/gate.sh && : >$(BUILD)/.announce && \
  GEMM_LAB_ANNOUNCE=$(BUILD)/.announce $(MAKE) $(if $(Q),-s) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS)) $(1) && { $(progress_end) :; }

# ---- C++
WARN := -Wall -Wextra -Wpedantic -Wshadow
ALL_CXXFLAGS = -std=c++20 $(OPT) -g1 -pthread -fopenmp $(WARN) -I. $(if $(DEPS),-isystem $(DEPS)/include) $(FLAGS_$(FLAGS)) $(CXXFLAGS)
# FLAGS of an object: what a student waits for first is the compiler, so what is not hot is compiled fast.
FLAGS_quick := -O0
FLAGS_light := -O1 -fno-strict-aliasing
FLAGS_tests := -O0
# Lanes are loops for the vectoriser; a*b+c must never become an fma by itself; registers are read as other types.
# That clang vectorises not all of them is no cause to warn.
LANES := -ffp-contract=off -fno-strict-aliasing -fno-math-errno -fno-trapping-math -Wno-pass-failed
# For the vectors that this machine has, in two steps: results are the same, and a build folder that comes to an older
# processor sees other flags and is built again.
X86_64_V3 := $(foreach f,AVX2 BMI BMI2 F16C FMA LZCNT MOVBE,__$(f)__)
VECTORS := $(if $(filter-out $(shell $(CXX) -march=native -dM -E -x c++ /dev/null 2>/dev/null),$(X86_64_V3)),,-march=x86-64-v3)
FLAGS_lanes := -O3 $(LANES) $(VECTORS)

# Of test-sanitized, which gives each of them a build folder of its own.
ifneq ($(and $(SANITIZE),$(findstring /sanitized-,$(BUILD))),)
override CXXFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_lanes := $(patsubst -O3,-O1,$(FLAGS_lanes))
endif

# The standard library is half of what g++ reads: once per set of flags instead of once per file. With the quick flags it
# took all that `make check` builds from 207 to 180 s of processor time (same busy machine). clang++ and ccache do without:
# ccache keeps nothing that was compiled with such a header.
ifneq ($(filter g++ g++-% %-g++,$(if $(filter ccache,$(notdir $(CXX))),,$(notdir $(CXX)))),)
HEADERS      := $(foreach f,quick light lanes,$(BUILD)/headers/$(f)/standard.hpp.gch)
TESTS_HEADER := $(BUILD)/headers/tests/standard.hpp.gch
# Without flags of their own are two or three files: compiled faster than a header for them.
header       = $(if $(FLAGS),$(BUILD)/headers/$(FLAGS)/standard.hpp)
$(HEADERS): common/standard.hpp
$(TESTS_HEADER): common/tests/standard.hpp
$(HEADERS) $(TESTS_HEADER): $(BUILD)/flags
	@mkdir -p $(@D) && cp $(filter %.hpp,$^) $(@D)/
	$(Q)$(CXX) $(ALL_CXXFLAGS) -x c++-header $(filter %.hpp,$^) -o $@
$(foreach f,quick light lanes tests,$(eval $(BUILD)/headers/$(f)/standard.hpp.gch: private FLAGS := $(f)))
endif

objects = $(patsubst %.cpp,$(BUILD)/obj/%.o,$(1))

.SECONDEXPANSION:
$(BUILD)/obj/%.o: %.cpp $(BUILD)/flags | $$(addsuffix .gch,$$(header))
	@mkdir -p $(@D); $(call progress,$<)
	$(Q)$(CXX) $(ALL_CXXFLAGS) $(addprefix -include ,$(header)) -MMD -MP -c $< -o $@

# Other flags, another compiler or processor: everything again.
.PHONY: always
always:
$(BUILD)/flags: always
	@[ -e $(BUILD) ] || sh $(SCRIPTS)/new_build.sh $(BUILD); \
	echo '$(CXX) $(ALL_CXXFLAGS) $(VECTORS)' | cmp -s - $@ || echo '$(CXX) $(ALL_CXXFLAGS) $(VECTORS)' >$@

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# ---- simgpu: the simulated GPU
SIMGPU_SRC := $(wildcard common/simgpu/*.cpp $(foreach d,ptx exec exec/kernels memory check count,common/simgpu/$(d)/*.cpp))
LIBSIMGPU  := $(BUILD)/lib/libsimgpu.a
$(foreach d,check count exec memory,$(BUILD)/obj/common/simgpu/$(d)/%.o): private FLAGS := lanes
$(BUILD)/obj/common/simgpu/ptx/%.o $(BUILD)/obj/common/simgpu/runtime/%.o $(patsubst %,$(BUILD)/obj/common/simgpu/%.o, \
  device names check/finding_log count/fold count/load_merging exec/decode exec/decode_alu exec/decode_memory exec/order): private FLAGS := light

CUDART_API    := $(wildcard common/simgpu/runtime/api/*.cpp)
CUDART_LOCAL  := $(BUILD)/lib/libsimgpu_cudart_local.a
CUDART_REMOTE := $(BUILD)/lib/libsimgpu_cudart_remote.a
RUNTIME_WIRE  := $(wildcard common/simgpu/runtime/wire/*.cpp)
LIBSERVER     := $(BUILD)/lib/libsimgpu_server.a

$(LIBSIMGPU): $(call objects,$(SIMGPU_SRC))
$(CUDART_LOCAL): $(call objects,$(CUDART_API) $(wildcard common/simgpu/runtime/local/*.cpp))
$(CUDART_REMOTE): $(call objects,$(CUDART_API) $(RUNTIME_WIRE) $(wildcard common/simgpu/runtime/remote/*.cpp))
$(LIBSERVER): $(call objects,$(RUNTIME_WIRE) $(wildcard common/simgpu/runtime/server/*.cpp))
$(BUILD)/lib/%.a:
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# ---- tests: one Catch2 program per tests/ folder
CATCH_MAIN := $(BUILD)/obj/common/tests/catch_main.o
CATCH_V3   := $(if $(wildcard $(DEPS)/include/catch2/catch_all.hpp /usr/include/catch2/catch_all.hpp \
  /usr/local/include/catch2/catch_all.hpp),-lCatch2)
COMMON_SRC := $(wildcard common/*.cpp)
TEST_SRC   := $(filter-out %_main.cpp,$(wildcard common/simgpu/tests/*.cpp common/tests/*.cpp grader/tests/*.cpp))
$(TEST_SRC:%.cpp=$(BUILD)/obj/%.o): private FLAGS := tests
$(BUILD)/tests/simgpu_tests: $(call objects,$(wildcard common/simgpu/tests/*.cpp)) $(CATCH_MAIN) $(LIBSERVER) $(LIBSIMGPU)
$(BUILD)/tests/common_tests: $(call objects,$(filter-out %/catch_main.cpp,$(wildcard common/tests/*.cpp)) $(COMMON_SRC)) $(CATCH_MAIN)
$(BUILD)/tests/%:
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(CXX) -pthread -fopenmp $(filter %.o %.a,$^) $(if $(DEPS),-L$(DEPS)/lib) $(CATCH_V3) -o $@
TEST_PROGRAMS := $(foreach t,$(if $(wildcard common/simgpu/tests/*.cpp),simgpu_tests) \
  $(if $(filter-out %/catch_main.cpp,$(wildcard common/tests/*.cpp)),common_tests) $(if $(wildcard grader/tests/*.cpp),grader_tests),$(BUILD)/tests/$(t))

# ---- grader: one binary that judges; the labs' goals are linked into it
GRADER := $(BUILD)/bin/grader
GRADER_SRC := $(filter-out grader/main.cpp,$(wildcard grader/*.cpp)) \
  $(foreach d,commands compile diagnose gpu judge labs os report,$(filter-out %_main.cpp,$(wildcard grader/$(d)/*.cpp)))
# What grades a class and what measures are programs of their own: nobody waits for them to pass a lab.
GRADE := $(BUILD)/bin/grade
GRADE_SRC := $(filter-out grader/grade/main.cpp,$(wildcard grader/grade/*.cpp))
MEASURE := $(BUILD)/bin/measure
MEASURE_SRC := $(filter-out grader/measure/main.cpp,$(foreach d,bench measure staff sweep,$(filter-out %_main.cpp,$(wildcard grader/$(d)/*.cpp))))
GOALS_SRC := $(wildcard lab[0-9]*_*/goals.cpp)
$(foreach d,commands compile gpu grade labs measure report staff sweep,$(BUILD)/obj/grader/$(d)/%.o) $(BUILD)/obj/grader/main.o $(BUILD)/obj/grader/messages.o \
  $(foreach f,gpu_meter plan predictions record run table,$(BUILD)/obj/grader/bench/$(f).o) \
  $(BUILD)/obj/grader/judge/catch_main.o $(BUILD)/obj/common/tests/catch_main.o: private FLAGS := quick
$(foreach d,diagnose judge os,$(BUILD)/obj/grader/$(d)/%.o) $(GOALS_SRC:%.cpp=$(BUILD)/obj/%.o): private FLAGS := light
# Catch2's implementation: the grader's own main() starts its session.
GRADER_CATCH := $(wildcard grader/judge/catch_main.cpp)
# The grader compiles the labs against this library and shows nothing of it to the student's process but the wire.
GRADER_NEEDS := $(CUDART_REMOTE)
GRADER_OBJECTS := $(call objects,$(GRADER_SRC) $(GRADER_CATCH) $(GOALS_SRC) $(COMMON_SRC)) $(LIBSERVER) $(LIBSIMGPU)
$(GRADER): $(call objects,grader/main.cpp) $(GRADER_OBJECTS)
$(GRADE): $(call objects,grader/grade/main.cpp $(GRADE_SRC)) $(GRADER_OBJECTS)
$(MEASURE): $(call objects,grader/measure/main.cpp $(MEASURE_SRC)) $(GRADER_OBJECTS)
$(BUILD)/tests/grader_tests: $(call objects,$(wildcard grader/tests/*.cpp) $(GRADE_SRC) $(MEASURE_SRC)) $(GRADER_OBJECTS)
$(GRADER) $(GRADE) $(MEASURE) $(BUILD)/tests/grader_tests:
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(CXX) -pthread -fopenmp $(filter %.o %.a,$^) $(if $(DEPS),-L$(DEPS)/lib) $(CATCH_V3) -o $@

# ---- gpu: the timing worker, our own process on the GPU; only where there is a GPU to run it
GPU_WORKER := $(BUILD)/bin/gpu_worker
GPU_HERE   := $(if $(filter-out sim,$(DEVICE)),$(if $(GPU_ARCH),$(if $(shell command -v $(NVCC)),1)))
NVCC_FLAGS = -std=c++17 -O3 -I. -gencode arch=compute_$(1),code=sm_$(1)
$(GPU_WORKER): $(wildcard grader/gpu/*.cu grader/gpu/*.cuh grader/gpu/*.hpp common/*.cuh) $(BUILD)/nvcc_flags
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(NVCC) $(call NVCC_FLAGS,$(ARCH)) grader/gpu/worker_main.cu -o $@ -ldl || \
	  { rm -f $@; [ $(DEVICE) = auto ] && echo "warning: nvcc does not compile the timing worker: speed is not judged" >&2; }
BENCH_CEILINGS := $(BUILD)/bin/bench_ceilings
$(BENCH_CEILINGS): grader/bench/ceilings.cu $(wildcard common/*.cuh common/statistics.hpp) $(BUILD)/nvcc_flags
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(NVCC) $(call NVCC_FLAGS,$(ARCH)) $< -o $@ || \
	  { rm -f $@; echo "warning: nvcc does not compile $<: the roofline is left out" >&2; }
$(BUILD)/nvcc_flags: always
	@[ -e $(BUILD) ] || sh $(SCRIPTS)/new_build.sh $(BUILD); echo '$(NVCC) $(ARCH)' | cmp -s - $@ || echo '$(NVCC) $(ARCH)' >$@

# ---- staff: skeletons from masters
SKELETON := $(BUILD)/bin/skeleton
$(SKELETON): $(call objects,grader/staff/skeleton_main.cpp grader/staff/skeleton.cpp)
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(CXX) $^ -o $@

# ---- what to type. A comment behind ## is the help's text; a target without one is not for people.
.PHONY: help
help: ## this text
	@sh $(SCRIPTS)/help.sh Makefile $(if $(AUTHOR_TREE),author)

.PHONY: check watch run bench report explain sweep hint submit reset grade test
GRADER_ARGS = $(addprefix --lab ,$(LAB)) --device $(DEVICE) $(if $(filter 1,$(SOLUTION)),--solution) \
  $(if $(GOALS),--goals "$(GOALS)") $(if $(filter 1,$(V)),--verbose)
ifneq ($(LABS_HERE),)
check: ## build and grade, [LAB=n] [SOLUTION=1] [GOALS=my.toml]
	$(call ensure,$(GRADER) $(GRADER_NEEDS) $(if $(GPU_HERE),$(GPU_WORKER)))
	$(Q)$(GRADER) check $(GRADER_ARGS)
watch: ## check again on every save, [LAB=n]
	@WATCH="$(lab_folders)" sh $(SCRIPTS)/watch.sh $(MAKE_COMMAND) check LAB="$(LAB)" DEVICE=$(DEVICE)
run: ## run one rung once, LAB=n [RUNG=] [M=] [N=] [K=] [TYPE=]
	$(Q)[ "$(words $(LAB))" = 1 ] || { echo 'error: which lab? make run LAB=1 RUNG=gemm_naive' >&2; exit 4; }
	$(call ensure,$(GRADER) $(GRADER_NEEDS))
	$(Q)$(GRADER) run --lab $(LAB) --device $(DEVICE) $(if $(RUNG),--rung "$(RUNG)") $(if $(TYPE),--type "$(TYPE)") \
	  $(if $(M),-M "$(M)") $(if $(N),-N "$(N)") $(if $(K),-K "$(K)") $(if $(filter 1,$(SOLUTION)),--solution)
explain: ## a page: what each line does, LAB=n [RUNG=] [STAGE=]
	$(Q)[ "$(words $(LAB))" = 1 ] || { echo 'error: which lab? make explain LAB=3' >&2; exit 4; }
	$(call ensure,$(GRADER) $(GRADER_NEEDS))
	$(Q)$(GRADER) explain --lab $(LAB) $(if $(RUNG),--rung "$(RUNG)") $(if $(STAGE),--stage "$(STAGE)") \
	  $(if $(TYPE),--type "$(TYPE)") $(if $(M),-M "$(M)") $(if $(N),-N "$(N)") $(if $(K),-K "$(K)") \
	  $(if $(filter 1,$(SOLUTION)),--solution) $(if $(OUT),--out "$(OUT)")
# The kernels of a sweep are what the labs ask for: the students' copy has none.
ifneq ($(wildcard grader/sweep/lab1.cu),)
sweep: ## time over one parameter, LAB=n [TYPE=] [QUICK=1]
	$(Q)[ "$(words $(LAB))" = 1 ] || { echo 'error: of which lab? make sweep LAB=3' >&2; exit 4; }
	$(call ensure,$(MEASURE))
	$(Q)$(MEASURE) sweep --lab $(LAB) $(if $(TYPE),--type "$(TYPE)") $(if $(filter 1,$(QUICK)),--quick) \
	  $(if $(OUT),--out "$(OUT)") $(if $(MEASURED),--measured "$(MEASURED)")
else
sweep:
	@echo 'error: the kernels of a sweep are solutions, and not part of this copy' >&2; exit 4
endif
bench: ## speeds against cuBLAS, [LAB=n] [QUICK=1] [LIMIT=seconds]
	$(call ensure,$(MEASURE) $(if $(GPU_HERE),$(GPU_WORKER) $(BENCH_CEILINGS)))
	$(Q)$(MEASURE) bench $(addprefix --lab ,$(LAB)) $(if $(filter 1,$(QUICK)),--quick) $(if $(LIMIT),--limit "$(LIMIT)") \
	  $(if $(filter 1,$(SOLUTION)),--solution) $(if $(OUT),--out "$(OUT)")
report: ## a page of your results: ladder, roofline, predictions
	$(call ensure,$(GRADER) $(MEASURE) $(GRADER_NEEDS))
	$(Q)$(MEASURE) bench --form
	$(Q)$(PYTHON) grader/plots/report.py --build $(BUILD) $(if $(OUT),--out "$(OUT)")
hint: ## the next hint of a stage, STAGE=1.1
	$(Q)[ -n "$(STAGE)" ] || { echo 'error: of which stage? make hint STAGE=1.1' >&2; exit 4; }
	$(call ensure,$(GRADER))
	$(Q)$(GRADER) hint --stage "$(STAGE)"
submit: ## pack exactly the files that count, [OUT=submission.zip]
	$(call ensure,$(GRADER))
	$(Q)$(GRADER) submit $(if $(OUT),--out "$(OUT)")
reset: ## LAB=n gets its TODOs back; your version stays beside it
	$(Q)[ -n "$(LAB)" ] || { echo 'error: which lab? make reset LAB=3' >&2; exit 4; }
ifneq ($(AUTHOR_TREE),)
	$(call ensure,$(SKELETON))
endif
	$(Q)SKELETON=$(SKELETON) sh $(SCRIPTS)/reset.sh $(lab_folders)
grade: ## staff: grade a class, SUBMISSIONS=folder [OUT=folder] [GOALS=]
	$(Q)[ -n "$(SUBMISSIONS)" ] || { echo 'error: grade what? make grade SUBMISSIONS=folder' >&2; exit 4; }
	$(call ensure,$(GRADER) $(GRADE) $(GRADER_NEEDS))
	$(Q)$(GRADE) "$(SUBMISSIONS)" $(if $(OUT),--out "$(OUT)") $(if $(GOALS),--goals "$(GOALS)")
ifneq ($(AUTHOR_TREE),)
.PHONY: calibrate test-gpu
calibrate: ## staff: place the speed goals for this GPU, [LAB=n]
	$(call ensure,$(MEASURE) $(GPU_WORKER))
	$(Q)$(MEASURE) calibrate $(addprefix --lab ,$(LAB))
# The engine on a real GPU: yardsticks, verification, what cheats get.
$(BUILD)/tests/gpu_engine_tests: $(call objects,grader/tests/gpu/engine_test.cpp grader/tests/tests_main.cpp) $(GRADER_OBJECTS)
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(CXX) -pthread -fopenmp $(filter %.o %.a,$^) $(if $(DEPS),-L$(DEPS)/lib) $(CATCH_V3) -o $@
$(BUILD)/tests/gpu_cheats: grader/tests/gpu/cheats.cu grader/gpu/runner_main.cu $(wildcard grader/gpu/*.hpp grader/gpu/*.cuh) $(BUILD)/nvcc_flags
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(NVCC) $(call NVCC_FLAGS,$(ARCH)) $(filter %.cu,$^) -o $@
$(BUILD)/tests/gpu_neighbour: grader/tests/gpu/neighbour.cu $(BUILD)/nvcc_flags
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(NVCC) $(call NVCC_FLAGS,$(ARCH)) $< -o $@
test-gpu: ## authors: the engine's tests that need a GPU
	$(call ensure,$(GPU_WORKER) $(foreach t,cheats neighbour engine_tests,$(BUILD)/tests/gpu_$(t)))
	$(Q)GPU_WORKER=$(GPU_WORKER) GPU_CHEATS=$(BUILD)/tests/gpu_cheats GPU_NEIGHBOUR=$(BUILD)/tests/gpu_neighbour \
	  $(BUILD)/tests/gpu_engine_tests
.PHONY: verify-counts
verify-counts: ## authors: simgpu's counts beside the profiler's
	$(call ensure,$(MEASURE) $(CUDART_LOCAL) $(LIBSIMGPU))
	$(Q)NVCC="$(NVCC)" $(MEASURE) verify-counts $(if $(MEASURED),--measured "$(MEASURED)") $(if $(OUT),--out "$(OUT)")
endif
endif

# ONLY="staff_test.sh simgpu_tests" runs some of them.
SHELL_TESTS := $(wildcard grader/tests/*_test.sh docs/tests/*_test.sh)
LONG_TESTS := %/mutants_test.sh %/weakenings_test.sh
ALL_TESTS := $(filter $(LONG_TESTS),$(SHELL_TESTS)) $(TEST_PROGRAMS) $(filter-out $(LONG_TESTS),$(SHELL_TESTS))
SELECTED_TESTS := $(if $(ONLY),$(foreach t,$(ONLY),$(filter %/$(t),$(ALL_TESTS))),$(ALL_TESTS))
ifneq ($(ALL_TESTS),)
test: ## the project's own tests; ends with "N passed, N failed"
	$(call ensure,$(GRADER) $(GRADE) $(MEASURE) $(GRADER_NEEDS) $(CUDART_LOCAL) $(if $(AUTHOR_TREE),$(SKELETON)) $(filter $(BUILD)/%,$(SELECTED_TESTS)))
	$(Q)bash $(SCRIPTS)/test.sh $(SELECTED_TESTS)
else
test:
	@echo "The project's own tests are not part of this copy; make check grades your labs."
endif

# The engine once more, compiled with a sanitizer that ends it at the first error; its tests are the ordinary objects.
# ONLY="[async]" runs some. Not [runtime]: its programs are linked with the ordinary library, which make test sees to.
.PHONY: test-sanitized
SANITIZERS := address,undefined thread
SIMGPU_TESTS := $(call objects,$(wildcard common/simgpu/tests/*.cpp)) $(CATCH_MAIN)
comma := ,
sanitized_build = $(BUILD)/sanitized-$(subst $(comma),-,$(1))
define test_sanitized
@echo "building the engine with -fsanitize=$(1) (minutes the first time) ..." >&2
+$(Q)$(MAKE) -s $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS)) BUILD=$(call sanitized_build,$(1)) SANITIZE=$(1) OPT=-O1 \
  $(call sanitized_build,$(1))/lib/libsimgpu.a $(call sanitized_build,$(1))/lib/libsimgpu_server.a
$(Q)$(CXX) -fsanitize=$(1) -pthread -fopenmp $(SIMGPU_TESTS) $(call sanitized_build,$(1))/lib/libsimgpu_server.a \
  $(call sanitized_build,$(1))/lib/libsimgpu.a $(if $(DEPS),-L$(DEPS)/lib) $(CATCH_V3) -o $(call sanitized_build,$(1))/simgpu_tests
@echo "simgpu_tests with the engine under -fsanitize=$(1)"
$(Q)TSAN_OPTIONS="suppressions=common/simgpu/tests/tsan.supp $$TSAN_OPTIONS" \
  $(call sanitized_build,$(1))/simgpu_tests "$(or $(ONLY),~[runtime])"

endef
ifneq ($(wildcard common/simgpu/tests/*.cpp),)
test-sanitized: $(SIMGPU_TESTS) $(CUDART_LOCAL) $(CUDART_REMOTE) $(LIBSIMGPU) ## authors: the engine under sanitizers, [SANITIZE=thread]
	$(foreach s,$(or $(SANITIZE),$(SANITIZERS)),$(call test_sanitized,$(s)))
endif

# ---- benches
BENCH_SIMGPU := $(BUILD)/bin/bench_simgpu
$(BENCH_SIMGPU): $(call objects,$(wildcard common/simgpu/bench/*.cpp)) $(LIBSIMGPU)
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(CXX) -pthread -fopenmp $(filter %.o %.a,$^) -o $@
$(BUILD)/bench/%.ptx: common/simgpu/bench/%.cu common/simgpu/flags/device.rsp
	@mkdir -p $(@D)
	$(Q)$(CLANG) @common/simgpu/flags/device.rsp -I. $< -o $@
.PHONY: bench-simgpu bench-check
ifneq ($(wildcard common/simgpu/bench/*.cpp),)
bench-simgpu: ## staff: how fast the simulated GPU runs
	$(call ensure,$(BENCH_SIMGPU) $(BUILD)/bench/tiled.ptx $(BUILD)/bench/mma.ptx)
	$(Q)$(BENCH_SIMGPU) $(BUILD)/bench/tiled.ptx 256 $(BUILD)/bench/mma.ptx
bench-check: ## staff: how long a student waits for make check, cold and warm
	$(Q)bash $(SCRIPTS)/bench_check.sh
endif

.PHONY: doctor setup
doctor: ## what is installed and missing, and which device is taken
	@MAKE='$(MAKE)' sh $(SCRIPTS)/doctor.sh $(if $(filter 1,$(JSON)),--json) || true
setup: ## install what is missing; asks before it uses sudo
	@YES='$(YES)' sh $(SCRIPTS)/setup.sh

.PHONY: docs serve
ifneq ($(wildcard docs/conf.py),)
PORT ?= 8000
docs: ## the tutorial as a site: build/docs/index.html
	$(Q)[ -e $(BUILD) ] || sh $(SCRIPTS)/new_build.sh $(BUILD); sh docs/tools/build.sh $(BUILD)/venv $(BUILD)/docs
serve: docs ## preview it at http://127.0.0.1:8000, [PORT=n]
	$(Q)cd $(BUILD)/docs && echo 'http://127.0.0.1:$(PORT)  (Ctrl-C ends it)' && exec python3 -m http.server --bind 127.0.0.1 $(PORT) 2>/dev/null
endif

.PHONY: skeletons handout solution-branch
ifneq ($(AUTHOR_TREE),)
skeletons: ## staff: labN_*/gemm.cu from the masters; edited ones are safe
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) FORCE='$(FORCE)' bash $(STAFF)/skeletons.sh $(if $(LAB),$(lab_folders))
handout: ## staff: the students' repository, LABS="1 2" OUT=folder
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) bash $(STAFF)/handout.sh "$(OUT)" $(or $(LABS),$(LABS_HERE))
solution-branch: ## staff: branch solution on a handout, OUT=folder [LABS=1]
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) bash $(STAFF)/solution_branch.sh "$(OUT)" $(LABS)
endif

# `all` and `objects` are for CI: everything, and what a machine of another kind must be able to compile.
.PHONY: all objects
all: $(GRADER) $(GRADE) $(MEASURE) $(CUDART_LOCAL) $(CUDART_REMOTE) $(SKELETON) $(TEST_PROGRAMS)
objects: $(call objects,$(SIMGPU_SRC) $(CUDART_API) $(RUNTIME_WIRE) $(wildcard common/simgpu/runtime/*/*.cpp) \
  $(COMMON_SRC) $(GRADER_SRC) $(GRADE_SRC) $(MEASURE_SRC) $(wildcard grader/main.cpp grader/grade/main.cpp grader/measure/main.cpp) $(GOALS_SRC))

.PHONY: compdb format lint clean
compdb: ## write compile_commands.json, for editors
	@sh $(SCRIPTS)/compdb.sh $(ALL_CXXFLAGS)
format: ## clang-format on everything
	$(Q)sh $(SCRIPTS)/format.sh
lint: ## clang-format and clang-tidy, changing nothing
	$(Q)sh $(SCRIPTS)/format.sh --check && sh $(SCRIPTS)/tidy.sh $(ALL_CXXFLAGS)
clean: ## remove everything that was built
	$(Q)[ ! -e $(BUILD) ] || { [ -e $(BUILD)/CACHEDIR.TAG ] && rm -rf $(BUILD); } || \
	  { echo "error: '$(BUILD)' was not made by this project (no CACHEDIR.TAG in it): remove it by hand" >&2; exit 3; }
