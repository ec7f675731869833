# Builds quietly and says how far it has got: every recipe that makes something begins with $(call progress,what).
progress = [ -z "$$GEMM_LAB_STEPS" ] || sh $(SCRIPTS)/step.sh '$(1)';
ifneq ($(filter 1,$(V)),)
progress =
endif
# Checks what the machine has, then builds $(1) in a make of its own: that one sees what the set-up has just installed.
dry_run = $(findstring n,$(firstword -$(MAKEFLAGS)))
ensure = $(Q)+$(if $(dry_run),,sh $(SCRIPTS)/gate.sh &&) MAKE="$(MAKE)" sh $(SCRIPTS)/build.sh $(if $(Q),-s) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS)) $(1)
# A file that has this among its prerequisites is always remade.
.PHONY: always
always:
# Where the clone lies: what names files by absolute paths is made anew where it was moved or copied to.
ifneq ($(shell cat $(BUILD)/folder 2>/dev/null),$(CURDIR))
$(BUILD)/folder: always
endif
$(BUILD)/folder:
	@[ -e $(BUILD) ] || sh $(SCRIPTS)/new_build.sh $(BUILD); pwd -P >$@
