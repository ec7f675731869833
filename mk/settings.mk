# Settings: command line, environment or config.mk, and one clear error for each that makes no sense.
BUILD     ?= build
# In one form, however it was given: objects' dependencies are recorded under this path.
override BUILD := $(patsubst $(CURDIR)/%,%,$(BUILD))
DEVICE    ?= auto
CUDA_HOME ?= $(or $(CUDA_PATH),/usr/local/cuda)
NVCC      ?= $(or $(wildcard $(CUDA_HOME)/bin/nvcc),nvcc)
GPU_ARCH := $(shell . grader/scripts/lib.sh && gpu_arch)
ifeq ($(origin ARCH),undefined)
ARCH := $(or $(GPU_ARCH),80)
ARCH_CHOSEN :=
# Where a make has called this one, both come from it: it says whether somebody chose.
else ifneq ($(origin ARCH) $(origin ARCH_CHOSEN),environment environment)
ARCH_CHOSEN := 1
endif
OPT       ?= -O2
PYTHON    ?= python3
CXXFLAGS  ?=
ifeq ($(origin CXX),default)
CXX := $(if $(shell command -v g++),g++,clang++)
# Versions that took {fmt} 9 or 10 and libstdc++ 12 or 14 without a warning. (Debian 13's first build, two cores: 101 s
# with g++ alone, 77 with clang 19.) CLANG= chooses the labs' compiler, not this one.
QUICK_CXX ?= $(firstword $(notdir $(wildcard $(foreach v,14 15 16 18 19,/usr/bin/clang++-$(v)))) $(CXX))
else
CXX_CHOSEN := 1
# From the environment it may come from the make that called this one, which has already decided.
ifeq ($(origin CXX),environment)
QUICK_CXX ?= $(CXX)
else
QUICK_CXX = $(CXX)
endif
endif
ifeq ($(origin CLANG),undefined)
CLANG := $(shell . grader/scripts/lib.sh && echo "$$CLANG")
else
CLANG_CHOSEN := 1
endif
# A compiler takes 0.7 GB: no more of them at a time than memory allows.
JOBS ?= $(shell awk -v cores="$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" \
  '/^MemAvailable/ { fit = int($$2 / 700000) } END { if (!fit || fit > cores) fit = cores; print fit < 1 ? 1 : fit }' \
  /proc/meminfo 2>/dev/null || echo 2)
# 90, 9.0, sm_90 and compute_90 are the same.
override ARCH := $(patsubst sm_%,%,$(patsubst compute_%,%,$(subst .,,$(ARCH))))
export BUILD PYTHON CUDA_HOME NVCC ARCH ARCH_CHOSEN CXX CXX_CHOSEN QUICK_CXX CLANG CLANG_CHOSEN DEPS

comma := ,
space := $(subst x,,x x)
LABS_HERE := $(sort $(foreach f,$(wildcard lab[0-9]*_*/lab.toml),$(patsubst lab%,%,$(firstword $(subst _, ,$(f))))))
AUTHOR_TREE := $(wildcard lab[0-9]*_*/solution/gemm.cu)
# LAB=3, LAB=lab3, LAB=lab3_shared_mem and LAB="1 3" all do.
override LAB := $(foreach l,$(subst /,,$(LAB)),$(patsubst lab%,%,$(firstword $(subst _, ,$(l)))))
ifneq ($(filter-out $(LABS_HERE),$(LAB)),)
$(error LAB=$(filter-out $(LABS_HERE),$(LAB)): there is no such lab here; the labs here: $(LABS_HERE))
endif
ifeq ($(filter auto sim gpu,$(DEVICE)),)
$(error DEVICE=$(DEVICE): not a device; choose auto, sim or gpu)
endif
override LABS := $(foreach l,$(subst /,,$(LABS)),$(patsubst lab%,%,$(firstword $(subst _, ,$(l)))))
ifneq ($(filter-out $(LABS_HERE),$(LABS)),)
$(error LABS=$(filter-out $(LABS_HERE),$(LABS)): there is no such lab here; the labs here: $(LABS_HERE))
endif
ifneq ($(filter-out 0 1,$(SOLUTION)),)
$(error SOLUTION=$(SOLUTION): choose 0 or 1)
endif
ifeq ($(filter 1,$(SOLUTION))$(AUTHOR_TREE),1)
$(error SOLUTION=1: the solutions are not part of this copy)
endif
ifneq ($(filter-out 0 1,$(DOCS)),)
$(error DOCS=$(DOCS): 0 makes a handout without its tutorial, 1 with it)
endif
ifneq ($(filter-out 0 1,$(SOURCES)),)
$(error SOURCES=$(SOURCES): 1 makes a handout with the sources of the grader, 0 one with its programs)
endif
ifneq ($(words x$(BUILD)x),1)
$(error BUILD='$(BUILD)': make cannot work in a build folder with a blank in its name; the project's own path may have one)
endif
ifeq ($(filter canvas moodle gradescope,$(EXPORT)),)
ifneq ($(EXPORT),)
$(error EXPORT=$(EXPORT): choose canvas, moodle or gradescope)
endif
endif
ifeq ($(filter local slurm,$(or $(ENGINE),local)),)
$(error ENGINE=$(ENGINE): choose local or slurm)
endif
ifneq ($(words x$(DEPS)x),1)
$(error DEPS='$(DEPS)': make cannot use a folder with a blank in its name)
endif
# Before the work whose pages it writes.
need_python = command -v "$(PYTHON)" >/dev/null || \
  { echo 'error: $(PYTHON) not found, which writes the pages: sudo apt-get install -y python3, or PYTHON=' >&2; exit 3; }
KNOWN_SETTINGS := BUILD DEVICE CUDA_HOME CUDA_PATH NVCC ARCH OPT CXXFLAGS CXX QUICK_CXX CLANG JOBS DEPS V LAB SOLUTION COURSE SANITIZE \
  SUBMISSIONS ENGINE PARTITION GRES PREVIOUS ROSTER EXPORT ASSIGNMENT STUDENT OUT LABS STAGE RUNG M N K TYPE LIMIT PYTHON YES STAFF UNSAFE FORCE JSON ONLY MEASURED QUICK \
  PORT FILE ARGS REPORT DOCS SOURCES GPU PRECOMPILED UNITS SINCE MAKEFLAGS MAKEOVERRIDES MAKE_VERSION SHELL
UNKNOWN_SETTINGS := $(strip $(foreach v,$(filter-out $(KNOWN_SETTINGS) GNUMAKEFLAGS MFLAGS -%,$(.VARIABLES)),\
  $(if $(filter command$(space)line,$(origin $(v))),$(v))))
ifneq ($(UNKNOWN_SETTINGS),)
$(error unknown setting $(UNKNOWN_SETTINGS); `make help` lists them)
endif

lab_folders = $(foreach n,$(or $(LAB),$(LABS_HERE)),$(wildcard lab$(n)_*))
Q := $(if $(filter 1,$(V)),,@)
SCRIPTS := grader/scripts
