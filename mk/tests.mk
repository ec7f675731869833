# The project's own tests: one Catch2 program per tests/ folder, and shell tests. ONLY="staff_test.sh simgpu_tests" runs
# some of them.
CATCH_MAIN := $(BUILD)/obj/common/tests/catch_main.o
TEST_SRC   := $(wildcard common/simgpu/tests/*.cpp common/tests/*.cpp grader/tests/*.cpp grader/tests/gpu/*.cpp grader/tests/wire/*.cpp)
$(patsubst %.cpp,$(BUILD)/obj/%.o,$(filter-out %_main.cpp grader/tests/gpu/%,$(TEST_SRC))): private FLAGS := tests
# These tests run the diagnosis on products that they compute themselves, one element at a time.
$(patsubst %,$(BUILD)/obj/grader/tests/diagnose_%.o,beginners findings formulas fragments): private FLAGS := light
# What this one calls is compiled for the vectors of this machine.
$(BUILD)/obj/common/simgpu/tests/float_tile_test.o: private FLAGS := lanes
$(CATCH_MAIN): private FLAGS := quick
TEST_PROGRAMS := $(foreach t,simgpu_tests common_tests wire_tests grader_tests,$(BUILD)/tests/$(t))
$(BUILD)/tests/simgpu_tests: $(call objects,$(wildcard common/simgpu/tests/*.cpp)) $(CATCH_MAIN) $(LIBSERVER) $(LIBSIMGPU)
$(BUILD)/tests/common_tests: $(call objects,$(filter-out %/catch_main.cpp,$(wildcard common/tests/*.cpp)) $(COMMON_SRC)) $(CATCH_MAIN)
# What crosses a process boundary: headers, and what is instantiated of them.
WIRE_SRC := grader/judge/protocol.cpp $(wildcard grader/tests/wire/*.cpp)
$(BUILD)/tests/wire_tests: $(call objects,$(WIRE_SRC)) $(CATCH_MAIN)
$(BUILD)/tests/grader_tests: $(call objects,$(wildcard grader/tests/*.cpp) $(GRADE_SRC) $(BENCH_SRC) $(MEASURE_SRC)) $(GRADER_OBJECTS) | $(UNPACK)
$(TEST_PROGRAMS):
	$(call link,$(GRADER_LIBS) $(COURSE_LIBS))
ALL_OBJECTS += $(call objects,$(TEST_SRC))

SHELL_TESTS := $(wildcard common/simgpu/tests/*_test.sh grader/tests/*_test.sh docs/tests/*_test.sh)
# Two run at a time, the longest first; otherwise one of the long ones would be left to run alone at the end.
LONG_TESTS := $(foreach t,mutants site handout transcripts staff weakenings kill,$(filter %/$(t)_test.sh,$(SHELL_TESTS)))
ALL_TESTS := $(firstword $(LONG_TESTS)) $(BUILD)/tests/grader_tests $(wordlist 2,9,$(LONG_TESTS)) \
  $(filter-out %/grader_tests,$(TEST_PROGRAMS)) $(filter-out $(LONG_TESTS),$(SHELL_TESTS))
SELECTED_TESTS := $(if $(ONLY),$(foreach t,$(ONLY),$(filter %/$(t),$(ALL_TESTS))),$(ALL_TESTS))
.PHONY: test
test: ## authors: the project's own tests; ends with "N passed, N failed"
	$(call ensure,$(PROGRAMS) $(GRADER_NEEDS) $(CUDART_LOCAL) $(CUDART_SEPARATE) $(filter $(BUILD)/%,$(SELECTED_TESTS)))
	$(Q)TEST_SECONDS=$(if $(ONLY),,$(BUILD)/.test-seconds) CHANGED=$(if $(ONLY),,1) bash $(SCRIPTS)/test.sh $(SELECTED_TESTS)

# What make test leaves out unless a change calls for it: tests of unchanged parts, every mutant and alternative, and
# make house.
.PHONY: test-all
test-all: ## authors: every test and mutant, whatever has changed
	$(Q)+MUTANTS=all SINCE=none $(MAKE) test$(if $(wildcard mk/house.mk), && $(MAKE) house)

# The engine once more, compiled with a sanitizer that ends it at the first error; its tests are the ordinary objects.
# ONLY="[async]" runs some. Not [runtime]: its programs are linked with the ordinary library, which make test sees to.
.PHONY: test-sanitized
SANITIZERS := address,undefined thread
SIMGPU_TESTS := $(call objects,$(wildcard common/simgpu/tests/*.cpp)) $(CATCH_MAIN)
sanitized_build = $(BUILD)/sanitized-$(subst $(comma),-,$(1))
define test_sanitized
@echo "building the engine with -fsanitize=$(1) (minutes the first time) ..." >&2
+$(Q)$(MAKE) -s $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS)) BUILD=$(call sanitized_build,$(1)) SANITIZE=$(1) OPT=-O1 \
  $(call sanitized_build,$(1))/lib/libsimgpu.a $(call sanitized_build,$(1))/lib/libsimgpu_server.a
$(Q)$(CXX) -fsanitize=$(1) -pthread -fopenmp $(SIMGPU_TESTS) $(call sanitized_build,$(1))/lib/libsimgpu_server.a \
  $(call sanitized_build,$(1))/lib/libsimgpu.a $(DEPS_LIB) $(CATCH_V3) -o $(call sanitized_build,$(1))/simgpu_tests
$(Q)$(CXX) $(ALL_CXXFLAGS) $(FLAGS_tests) -fsanitize=$(1) -fno-sanitize-recover=all $(WIRE_SRC) $(CATCH_MAIN) $(DEPS_LIB) $(CATCH_V3) \
  -o $(call sanitized_build,$(1))/wire_tests
@echo "wire_tests and simgpu_tests, the wire and the engine under -fsanitize=$(1)"
$(if $(ONLY),,$(Q)$(call sanitized_build,$(1))/wire_tests)
$(Q)TSAN_OPTIONS="suppressions=common/simgpu/tests/tsan.supp $$TSAN_OPTIONS" \
  $(call sanitized_build,$(1))/simgpu_tests "$(or $(ONLY),~[runtime])"

endef
test-sanitized: $(SIMGPU_TESTS) $(CUDART_LOCAL) $(CUDART_REMOTE) $(LIBSIMGPU) ## authors: the engine under sanitizers, [SANITIZE=thread]
	$(foreach s,$(or $(SANITIZE),$(SANITIZERS)),$(call test_sanitized,$(s)))

# The engine on a real GPU: yardsticks, verification, what cheats get.
$(BUILD)/tests/gpu_engine_tests: $(call objects,grader/tests/gpu/engine_test.cpp grader/tests/tests_main.cpp) $(GRADER_OBJECTS)
	$(call link,$(GRADER_LIBS))
$(BUILD)/tests/gpu_cheats: grader/tests/gpu/cheats.cu grader/gpu/runner_main.cu $(wildcard grader/gpu/*.hpp grader/gpu/*.cuh common/wire/*.hpp) $(BUILD)/nvcc_flags
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(NVCC) $(call NVCC_FLAGS,$(ARCH)) $(filter %.cu,$^) -o $@
$(BUILD)/tests/gpu_neighbour: grader/tests/gpu/neighbour.cu $(BUILD)/nvcc_flags
	@mkdir -p $(@D); $(call progress,$(@F))
	$(Q)$(NVCC) $(call NVCC_FLAGS,$(ARCH)) $< -o $@
.PHONY: test-gpu
test-gpu: ## authors: the engine's tests that need a GPU
	$(call ensure,$(GPU_WORKER) $(foreach t,cheats neighbour engine_tests,$(BUILD)/tests/gpu_$(t)))
	$(Q)GPU_WORKER=$(GPU_WORKER) GPU_CHEATS=$(BUILD)/tests/gpu_cheats GPU_NEIGHBOUR=$(BUILD)/tests/gpu_neighbour \
	  $(BUILD)/tests/gpu_engine_tests
