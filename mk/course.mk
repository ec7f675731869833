# For those who give the labs out and grade them; the students' copy has none of it.
GRADE     := $(BUILD)/bin/grade
BOX_INIT  := $(BUILD)/bin/box_init
# libseccomp makes the filters of system calls. Without its headers all is built, and `make grade` says what to install.
SECCOMP   := $(if $(wildcard $(DEPS)/include/seccomp.h /usr/include/seccomp.h /usr/local/include/seccomp.h),-lseccomp)
GRADE_SRC := grader/course/messages.cpp $(filter-out grader/course/grade/main.cpp,$(wildcard grader/course/grade/*.cpp)) grader/course/box/kit.cpp \
  grader/course/box/$(if $(SECCOMP),filters,no_filters).cpp
$(BUILD)/obj/grader/course/messages.o: grader/course/messages.toml
$(BUILD)/obj/grader/course/%.o: private FLAGS := quick
$(GRADE): $(call objects,grader/course/grade/main.cpp $(GRADE_SRC)) $(GRADER_OBJECTS)
	$(call link,$(GRADER_LIBS) $(SECCOMP))
$(BOX_INIT): $(call objects,grader/course/box/box_init.cpp)
	$(call link)
PROGRAMS    += $(GRADE) $(BOX_INIT)
ALL_OBJECTS += $(call objects,grader/course/grade/main.cpp grader/course/box/box_init.cpp $(GRADE_SRC))

.PHONY: grade handout solution-branch
grade: ## staff: grade a class, SUBMISSIONS=dir [OUT=] [GOALS=] [UNSAFE=1]
	$(Q)[ -n "$(SUBMISSIONS)" ] || { echo 'error: grade what? make grade SUBMISSIONS=folder' >&2; exit 4; }
	$(call ensure,$(GRADER) $(GRADE) $(BOX_INIT) $(GRADER_NEEDS))
	$(Q)$(GRADE) "$(SUBMISSIONS)" $(if $(OUT),--out "$(OUT)") $(if $(GOALS),--goals "$(GOALS)") $(if $(filter 1,$(UNSAFE)),--unsafe)
handout: ## staff: the students' repository, LABS="1 2" OUT=folder [DOCS=0]
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) VENV=$(BUILD)/venv DOCS=$(DOCS) bash grader/course/handout.sh "$(OUT)" $(or $(LABS),$(LABS_HERE))
solution-branch: ## staff: branch solution on a handout, OUT=folder [LABS=1]
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) bash grader/course/solution_branch.sh "$(OUT)" $(LABS)
