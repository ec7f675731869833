# For those who give the labs out and grade them; the students' copy has none of it.
GRADE     := $(BUILD)/bin/grade
BOX_INIT  := $(BUILD)/bin/box_init
UNPACK    := $(BUILD)/bin/unpack
# libseccomp makes the filters of system calls. Without its headers all is built, and `make grade` says what to install.
SECCOMP   := $(if $(wildcard $(DEPS)/include/seccomp.h /usr/include/seccomp.h /usr/local/include/seccomp.h),-lseccomp)
GRADE_SRC := grader/course/messages.cpp $(filter-out %/main.cpp %_main.cpp,$(wildcard grader/course/grade/*.cpp grader/course/intake/*.cpp)) \
  grader/course/box/kit.cpp grader/course/box/unpacker.cpp \
  grader/course/box/$(if $(SECCOMP),filters,no_filters).cpp
$(BUILD)/obj/grader/course/messages.o: grader/course/messages.toml
$(BUILD)/obj/grader/course/%.o: private FLAGS := grader
# It makes {fmt} a part of itself, so no precompiled header may have brought {fmt} before.
$(BUILD)/obj/grader/course/portable/fmt.o: private FLAGS := quick
$(GRADE): $(call objects,grader/course/grade/main.cpp $(GRADE_SRC)) $(GRADER_OBJECTS)
	$(call link,$(GRADER_LIBS) $(COURSE_LIBS))
COURSE_LIBS := $(SECCOMP) -lyaml-cpp -lutf8proc
$(UNPACK): $(call objects,grader/course/intake/unpack_main.cpp)
	$(call link,-larchive)
# It starts for every compiler, runner and worker of a class: without libraries to load, where there are static ones.
$(BOX_INIT): $(call objects,grader/course/box/box_init.cpp)
	$(call link,$(if $(or $(SANITIZE),$(filter-out /%,$(shell $(CXX) -print-file-name=libc.a))),,-static -s))
PROGRAMS    += $(GRADE) $(BOX_INIT) $(UNPACK)
ALL_OBJECTS += $(call objects,grader/course/grade/main.cpp grader/course/box/box_init.cpp grader/course/intake/unpack_main.cpp $(GRADE_SRC))

GRADE_PROGRAMS = $(GRADER) $(GRADE) $(BOX_INIT) $(UNPACK) $(GRADER_NEEDS) $(if $(filter gpu,$(DEVICE)),$(if $(GPU_HERE),$(GPU_WORKER)))
# Built once in an autograder's image, and on a cluster's node with DEVICE=gpu.
.PHONY: grade-programs
grade-programs:
	$(call ensure,$(GRADE_PROGRAMS))

# Whatever $$status is: pages of everything that was graded, even if something was not.
GRADES = $(or $(OUT),$(BUILD)/grades)
class_report = case $$status in 0|3) [ ! -e "$(GRADES)/grades.json" ] || $(PYTHON) grader/course/report/report.py "$(GRADES)" ;; esac;

labs_counted = labs = [$(subst $(space),$(comma) ,$(strip $(LABS)))]
# What counts: COURSE=course.toml, or with LABS="1 2" these labs alone. The file stays, for a regrade and the nodes of a cluster.
GRADE_COURSE = $(if $(LABS),$(GRADES)/labs.toml,$(COURSE))

.PHONY: grade regrade collect similar autograder handout solution-branch
grade: ## staff: grade a class, SUBMISSIONS= [LABS=] [DEVICE=] [ENGINE=]
	$(Q)[ -n "$(SUBMISSIONS)" ] || { echo 'error: grade what? make grade SUBMISSIONS=folder' >&2; exit 4; }
	$(Q)[ -z "$(LABS)" ] || [ -z "$(COURSE)" ] || { echo 'error: LABS= and COURSE=: write $(labs_counted) into the course file' >&2; exit 4; }
	$(Q)[ "$(DEVICE)" != gpu ] || [ -n "$(GPU_HERE)" ] || [ "$(ENGINE)" = slurm ] || \
	  { echo 'error: DEVICE=gpu: no GPU here, or no nvcc for it (make doctor). Without DEVICE=gpu all but speed is graded' >&2; exit 3; }
	$(Q)[ "$(DEVICE)" != gpu ] || [ -n "$(GPU_HERE)" ] || [ -x $(GPU_WORKER) ] || \
	  { echo 'error: DEVICE=gpu: a node with a GPU builds what runs on it, once: srun --gres=gpu:1 make grade-programs DEVICE=gpu' >&2; exit 3; }
	$(Q)[ "$(ENGINE)" != slurm ] || [ -n "$(PARTITION)" ] || { echo 'error: where? make grade ENGINE=slurm PARTITION=name; sinfo lists them' >&2; exit 4; }
	$(Q)$(need_python)
	$(call ensure,$(GRADE_PROGRAMS))
	$(if $(LABS),$(Q)mkdir -p "$(GRADES)" && echo '$(labs_counted)' >"$(GRADES)/labs.toml")
	$(Q)$(GRADE) "$(SUBMISSIONS)" $(if $(filter gpu,$(DEVICE)),--device gpu) $(if $(ROSTER),--roster "$(ROSTER)") \
	  $(if $(OUT),--out "$(OUT)") $(if $(GRADE_COURSE),--course "$(GRADE_COURSE)") $(if $(filter 1,$(UNSAFE)),--unsafe) \
	  $(if $(filter slurm,$(ENGINE)),--engine slurm --partition "$(PARTITION)" $(if $(GRES),--gres "$(GRES)")); status=$$?; $(class_report) \
	  $(if $(EXPORT),$(PYTHON) grader/course/exports/export.py "$(GRADES)" "$(EXPORT)" $(if $(ASSIGNMENT),--assignment "$(ASSIGNMENT)") &&) exit $$status
regrade: ## staff: grade one student again, STUDENT= [STAGE=1.1] [OUT=]
	$(Q)[ -n "$(STUDENT)" ] || { echo 'error: whom? make regrade STUDENT=id' >&2; exit 4; }
	$(Q)$(need_python)
	$(call ensure,$(GRADE_PROGRAMS))
	$(Q)$(GRADE) $(if $(filter gpu sim,$(DEVICE)),--device $(DEVICE)) --regrade "$(STUDENT)" $(if $(STAGE),--stage "$(STAGE)") $(if $(SUBMISSIONS),"$(SUBMISSIONS)") $(if $(OUT),--out "$(OUT)") \
	  $(if $(ROSTER),--roster "$(ROSTER)") $(if $(COURSE),--course "$(COURSE)") $(if $(filter 1,$(UNSAFE)),--unsafe); status=$$?; $(class_report) exit $$status
collect: ## staff: keep the files that count, SUBMISSIONS= [LABS=] [OUT=]
	$(Q)[ -n "$(SUBMISSIONS)" ] || { echo 'error: of what? make collect SUBMISSIONS=folder' >&2; exit 4; }
	$(call ensure,$(GRADE) $(UNPACK))
	$(if $(LABS),$(Q)mkdir -p $(BUILD) && echo '$(labs_counted)' >$(BUILD)/collect.toml)
	$(Q)$(GRADE) "$(SUBMISSIONS)" --collect $(if $(LABS),--course $(BUILD)/collect.toml) $(if $(ROSTER),--roster "$(ROSTER)") $(if $(OUT),--out "$(OUT)") $(if $(filter 1,$(UNSAFE)),--unsafe)
similar: ## staff: find similar submissions, SUBMISSIONS= [PREVIOUS=]
	$(Q)[ -n "$(SUBMISSIONS)" ] || { echo 'error: of what? make similar SUBMISSIONS=folder' >&2; exit 4; }
	$(Q)$(need_python)
	$(call ensure,$(GRADE) $(UNPACK))
	$(Q)$(GRADE) "$(SUBMISSIONS)" --collect --out $(BUILD)/similar/now $(if $(ROSTER),--roster "$(ROSTER)") $(if $(filter 1,$(UNSAFE)),--unsafe) >$(BUILD)/similar.log || { cat $(BUILD)/similar.log; exit 3; }
	$(if $(PREVIOUS),$(Q)$(GRADE) "$(PREVIOUS)" --collect --out $(BUILD)/similar/previous $(if $(filter 1,$(UNSAFE)),--unsafe) >$(BUILD)/similar.log || { cat $(BUILD)/similar.log; exit 3; })
	$(Q)$(PYTHON) grader/course/similar/similar.py $(BUILD)/similar/now "$(or $(OUT),$(BUILD)/similar)" $(if $(PREVIOUS),--previous $(BUILD)/similar/previous)
autograder: ## staff: for Gradescope and GitHub Classroom, [LABS="1 2"] [OUT=]
	$(Q)$(need_python)
	$(Q)DEPS="$(DEPS)" PYTHON="$(PYTHON)" COURSE="$(COURSE)" bash grader/course/exports/autograder.sh "$(or $(OUT),$(BUILD)/autograder.zip)" $(or $(LABS),$(LABS_HERE))
# A handout's programs: the ordinary objects, linked statically, with the goals of the released labs and no others.
HANDED_OUT := $(sort $(or $(LABS),$(LABS_HERE)) $(if $(OUT),$(shell sed -n 's/^labs = //p' "$(OUT)/.handout" 2>/dev/null)))
PORTABLE   := $(BUILD)/portable/$(subst $(space),-,$(HANDED_OUT))
PORTABLE_PROGRAMS := $(patsubst %,$(PORTABLE)/%,grader bench simgpu_device)
STATIC_SRC := $(wildcard grader/course/portable/*.cpp)
PORTABLE_OBJECTS := $(call objects,$(STATIC_SRC) $(foreach n,$(HANDED_OUT),$(wildcard lab$(n)_*/goals.cpp))) \
  $(filter-out $(call objects,$(GOALS_SRC)),$(GRADER_OBJECTS))
$(PORTABLE)/grader: $(call objects,grader/main.cpp) $(PORTABLE_OBJECTS)
$(PORTABLE)/bench: $(call objects,grader/bench/main.cpp $(BENCH_SRC)) $(PORTABLE_OBJECTS)
$(PORTABLE)/simgpu_device: $(call objects,$(wildcard common/simgpu/runtime/program/*.cpp)) $(CUDART_LOCAL) $(LIBSIMGPU)
$(PORTABLE_PROGRAMS):
	@mkdir -p $(@D); $(call progress,portable $(@F))
	$(Q)$(CXX) -static -s -pthread -fopenmp $(patsubst %,-Wl$(comma)--wrap=%,dlopen dlsym dlclose dlerror) $(linked) $(if $(DEPS),-L$(DEPS)/lib) $(CATCH_V3) -lz -o $@ || \
	  { echo 'error: no static programs can be linked here (see above); make handout SOURCES=1 does without' >&2; exit 3; }
ALL_OBJECTS += $(call objects,$(STATIC_SRC))

handout: ## staff: the students' repository, OUT=folder [LABS=] [SOURCES=1]
	$(call ensure,$(SKELETON) $(if $(filter 1,$(SOURCES)),,$(PORTABLE_PROGRAMS)))
	$(Q)SKELETON=$(SKELETON) PROGRAMS=$(if $(filter 1,$(SOURCES)),,$(PORTABLE)) GPU=$(GPU) VENV=$(BUILD)/venv DOCS=$(DOCS) bash grader/course/handout.sh "$(OUT)" $(or $(LABS),$(LABS_HERE))
solution-branch: ## staff: add a branch with solutions, OUT=folder [LABS=1]
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) bash grader/course/solution_branch.sh "$(OUT)" $(LABS)
