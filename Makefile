# The only entry point of the CUDA GEMM Lab. `make` alone prints help; settings that should stay go into config.mk.

ifneq ($(filter 0.% 1.% 2.% 3.%,$(MAKE_VERSION)),)
$(error GNU make 4 or newer is needed, this is $(MAKE_VERSION) (macOS: brew install make, then gmake))
endif
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

-include $(wildcard config.mk)
# A clone compiles its programs, a handout may have brought them along.
PARTS := settings progress $(if $(wildcard tools),given cudart,toolchain cudart simgpu grader) gpu
ifeq ($(wildcard tools mk/grader.mk),)
$(error tools/, with the programs of this copy, is missing: git checkout tools brings it back)
endif
include $(PARTS:%=mk/%.mk)

# ---- what to type. A comment behind ## is the help's text; a target without one is not for people.
.PHONY: help check watch run explain sass bench report hint submit reset doctor setup version clean
GRADER_ARGS = $(addprefix --lab ,$(LAB)) --device $(DEVICE) $(if $(filter 1,$(SOLUTION)),--solution) \
  $(if $(COURSE),--course "$(COURSE)") $(if $(filter 1,$(V)),--verbose) $(if $(filter 1,$(AGAIN)),--again)
check: ## grade, [LAB=n | STAGE=1.1] [SOLUTION=1] [COURSE=my.toml]
	$(call ensure,$(GRADER) $(GRADER_NEEDS) $(if $(GPU_HERE),$(GPU_WORKER)))
	$(Q)$(GRADER) check $(GRADER_ARGS) $(if $(STAGE),--stage "$(STAGE)") || \
	  { status=$$?; [ $$status = 1 ] && [ -t 1 ] || exit $$status; } # graded: at a terminal the last line is the next step
watch: ## check again on every save, [LAB=n]
	@WATCH="$(lab_folders)" sh $(SCRIPTS)/watch.sh $(MAKE_COMMAND) check LAB="$(LAB)" DEVICE=$(DEVICE)
run: ## run one rung once, LAB=n [RUNG=] [M=] [N=] [K=] [TYPE=]
	$(Q)[ "$(words $(LAB))" = 1 ] || { echo 'error: which lab? make run LAB=1 RUNG=gemm_naive' >&2; exit 4; }
	$(call ensure,$(GRADER) $(GRADER_NEEDS))
	$(Q)$(GRADER) run --lab $(LAB) --device $(DEVICE) $(if $(RUNG),--rung "$(RUNG)") $(if $(TYPE),--type "$(TYPE)") \
	  $(if $(M),-M "$(M)") $(if $(N),-N "$(N)") $(if $(K),-K "$(K)") $(if $(filter 1,$(SOLUTION)),--solution)
explain: ## a page about what each line does, LAB=n [RUNG=] [STAGE=]
	$(Q)[ "$(words $(LAB))" = 1 ] || { echo 'error: which lab? make explain LAB=1' >&2; exit 4; }
	$(call ensure,$(GRADER) $(GRADER_NEEDS))
	$(Q)$(GRADER) explain --lab $(LAB) $(if $(RUNG),--rung "$(RUNG)") $(if $(STAGE),--stage "$(STAGE)") \
	  $(if $(TYPE),--type "$(TYPE)") $(if $(M),-M "$(M)") $(if $(N),-N "$(N)") $(if $(K),-K "$(K)") \
	  $(if $(filter 1,$(SOLUTION)),--solution) $(if $(OUT),--out "$(OUT)")
sass: ## the machine code of a rung's loop, LAB=n RUNG= [TYPE=]
	$(Q)[ "$(words $(LAB))" = 1 ] && [ -n "$(RUNG)" ] || { echo 'error: of which rung? make sass LAB=1 RUNG=gemm_naive' >&2; exit 4; }
	$(call ensure,$(GRADER))
	$(Q)bash $(SCRIPTS)/sass.sh $(GRADER) $(LAB) "$(RUNG)" "$(TYPE)" $(ARCH) $(if $(filter 1,$(SOLUTION)),--solution)
bench: ## speed beside cuBLAS, [LAB=n] [QUICK=1] [LIMIT=seconds]
	$(Q)$(call no_gpu_note,only the CPU is timed. Your kernels: make check counts what they do)
	$(call ensure,$(BENCH) $(if $(GPU_HERE),$(GPU_WORKER) $(BENCH_CEILINGS)))
	$(Q)$(BENCH) $(addprefix --lab ,$(LAB)) $(if $(filter 1,$(QUICK)),--quick) $(if $(LIMIT),--limit "$(LIMIT)") \
	  $(if $(filter 1,$(SOLUTION)),--solution) $(if $(OUT),--out "$(OUT)")
report: ## a page of your results: ladder, roofline, predictions
	$(Q)$(need_python)
	$(Q)[ -e $(BUILD)/bench/bench.json ] || $(call no_gpu_note,the page shows what is counted and leaves speeds out)
	$(call ensure,$(GRADER) $(BENCH) $(GRADER_NEEDS))
	$(Q)$(BENCH) --form
	$(Q)$(PYTHON) grader/plots/report.py --build $(BUILD) --grader $(GRADER) $(if $(OUT),--out "$(OUT)")
hint: ## the next hint of a stage, STAGE=1.1
	$(Q)[ -n "$(STAGE)" ] || { echo 'error: of which stage? make hint STAGE=1.1' >&2; exit 4; }
	$(call ensure,$(GRADER))
	$(Q)$(GRADER) hint --stage "$(STAGE)"
submit: ## pack exactly the files that count, [OUT=submission.zip]
	$(call ensure,$(GRADER))
	$(Q)$(GRADER) submit $(if $(OUT),--out "$(OUT)")
reset: ## bring the TODOs of LAB=n back; your version is kept
	$(Q)[ -n "$(LAB)" ] || { echo 'error: which lab? make reset LAB=1' >&2; exit 4; }
	$(if $(SKELETON),$(call ensure,$(SKELETON)))
	$(Q)SKELETON=$(SKELETON) sh $(SCRIPTS)/reset.sh $(lab_folders)
doctor: ## what is installed, what is missing, which device is used
	@MAKE='$(MAKE)' sh $(SCRIPTS)/doctor.sh $(if $(filter 1,$(JSON)),--json) || true
setup: ## install what is missing; asks before sudo, [STAFF=1]
	@YES='$(YES)' STAFF='$(STAFF)' sh $(SCRIPTS)/setup.sh
version: ## which version of the labs this is
	@cat VERSION
# A misspelt command gets a sentence.
.DEFAULT:
	@[ ! -e '$@' ] || exit 0; case ' $(MAKECMDGOALS) ' in *' $@ '*) echo "error: there is no command '$@'; make help lists all" >&2; exit 4 ;; esac; \
	  echo "error: '$@' is not there, and nothing here makes it" >&2; exit 2
help: ## this text
	@sh $(SCRIPTS)/help.sh $(filter Makefile mk/%.mk,$(MAKEFILE_LIST))
clean: ## remove everything that was built
	$(Q)[ ! -e $(BUILD) ] || { [ -e $(BUILD)/CACHEDIR.TAG ] && rm -rf $(BUILD); } || \
	  { echo "error: '$(BUILD)' was not made by this project (no CACHEDIR.TAG in it): remove it by hand" >&2; exit 3; }

# Further commands, some of them for staff and authors: where their files are.
include $(filter-out mk/given.mk $(PARTS:%=mk/%.mk),$(wildcard mk/*.mk))
