# The only entry point of the CUDA GEMM Lab. `make` alone prints help.

-include config.mk

ifeq ($(origin CXX),default)
CXX := g++
endif
CLANG ?= clang++
BUILD ?= build
Q := $(if $(filter 1,$(V)),,@)

OPT      ?= -O2
WARN     := -Wall -Wextra -Wpedantic -Wshadow
CXXFLAGS ?=
ALL_CXXFLAGS = -std=c++20 $(OPT) -g1 $(WARN) -I. $(if $(DEPS),-isystem $(DEPS)/include) -MMD -MP $(CXXFLAGS)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

objects = $(patsubst %.cpp,$(BUILD)/obj/%.o,$(1))

$(BUILD)/obj/%.o: %.cpp
	@mkdir -p $(@D)
	$(Q)$(CXX) $(ALL_CXXFLAGS) -c $< -o $@

# ---- simgpu: the simulated GPU
SIMGPU_SRC := $(wildcard common/simgpu/*.cpp $(foreach d,ptx exec memory check count,common/simgpu/$(d)/*.cpp))
LIBSIMGPU  := $(BUILD)/lib/libsimgpu.a
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
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# ---- tests: one Catch2 program per tests/ folder
CATCH_MAIN := $(BUILD)/obj/common/tests/catch_main.o
TEST_PROGRAMS := $(BUILD)/tests/simgpu_tests $(BUILD)/tests/common_tests $(BUILD)/tests/grader_tests
$(BUILD)/tests/simgpu_tests: $(call objects,$(wildcard common/simgpu/tests/*.cpp)) $(CATCH_MAIN) $(LIBSERVER) $(LIBSIMGPU)
$(BUILD)/tests/common_tests: $(call objects,$(filter-out %/catch_main.cpp,$(wildcard common/tests/*.cpp))) $(CATCH_MAIN)
$(BUILD)/tests/%:
	@mkdir -p $(@D)
	$(Q)$(CXX) -pthread -fopenmp $^ -o $@

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

.PHONY: help
help:
	@echo "usage: make check"
