# A handout whose programs came ready-made, for each kind of machine in tools/<machine>/: nothing here makes them, and
# gate.sh says so where there are none for this one.
TOOLS  := tools/$(subst arm64,aarch64,$(shell uname -m))
GRADER := $(TOOLS)/grader
BENCH  := $(TOOLS)/bench
SIMGPU_DEVICE := $(TOOLS)/simgpu_device
GRADER_NEEDS = $(CUDART_REMOTE)
SIM_NEEDS    = $(CUDART_SEPARATE)
export SIMGPU_DEVICE_PROGRAM := $(CURDIR)/$(SIMGPU_DEVICE)

# A handout made with GPU=0 lacks the programs that run on a GPU.
ifeq ($(wildcard grader/gpu/worker_main.cu),)
ifeq ($(DEVICE),gpu)
$(error DEVICE=gpu: this handout was made without what runs on a GPU (GPU=0))
endif
override DEVICE := sim
endif

.PHONY: compdb docs
docs:
	@echo 'The tutorial is built already: tutorial/index.html, to be opened in a browser'
compdb: ## write compile_commands.json, for editors
	@sh $(SCRIPTS)/compdb.sh </dev/null >compile_commands.json && echo 'wrote compile_commands.json'
