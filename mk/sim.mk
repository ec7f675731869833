# Any CUDA program on the simulated GPU. Only the engine and the runtime are built: a few seconds after `make check`.
.PHONY: sim
sim: ## run any CUDA program, FILE=foo.cu [ARGS=] [REPORT=lines]
	$(Q)[ -n "$$FILE" ] || { echo 'error: run which program? make sim FILE=examples/vector_add.cu' >&2; exit 4; }
	$(Q)[ -e "$$FILE" ] || { echo "error: $$FILE: no such file; FILE= is a path from $$PWD" >&2; exit 4; }
	$(call ensure,$(SIM_NEEDS))
	$(Q)common/simgpu/simrun --report="$(or $(REPORT),kernels)" "$$FILE" $(ARGS)
