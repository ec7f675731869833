# For those who give the labs out and grade them; the students' copy has none of it.
GRADE     := $(BUILD)/bin/grade
GRADE_SRC := $(filter-out grader/course/grade/main.cpp,$(wildcard grader/course/grade/*.cpp))
$(BUILD)/obj/grader/course/%.o: private FLAGS := quick
$(GRADE): $(call objects,grader/course/grade/main.cpp $(GRADE_SRC)) $(GRADER_OBJECTS)
	$(call link,$(GRADER_LIBS))
PROGRAMS    += $(GRADE)
ALL_OBJECTS += $(call objects,grader/course/grade/main.cpp $(GRADE_SRC))

.PHONY: grade handout solution-branch
grade: ## staff: grade a class, SUBMISSIONS=folder [OUT=folder] [GOALS=]
	$(Q)[ -n "$(SUBMISSIONS)" ] || { echo 'error: grade what? make grade SUBMISSIONS=folder' >&2; exit 4; }
	$(call ensure,$(GRADER) $(GRADE) $(GRADER_NEEDS))
	$(Q)$(GRADE) "$(SUBMISSIONS)" $(if $(OUT),--out "$(OUT)") $(if $(GOALS),--goals "$(GOALS)")
handout: ## staff: the students' repository, LABS="1 2" OUT=folder
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) bash grader/course/handout.sh "$(OUT)" $(or $(LABS),$(LABS_HERE))
solution-branch: ## staff: branch solution on a handout, OUT=folder [LABS=1]
	$(call ensure,$(SKELETON))
	$(Q)SKELETON=$(SKELETON) bash grader/course/solution_branch.sh "$(OUT)" $(LABS)
