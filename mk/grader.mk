# The grader: one program that judges, with the labs' goals linked into it; a second one for make bench.
GRADER := $(BUILD)/bin/grader
BENCH  := $(BUILD)/bin/bench
COMMON_SRC := $(wildcard common/*.cpp)
GOALS_SRC  := $(wildcard lab[0-9]*_*/goals.cpp)
GRADER_SRC := $(filter-out grader/main.cpp,$(wildcard grader/*.cpp)) \
  $(foreach d,commands compile diagnose explain gpu judge labs os report,$(filter-out %_main.cpp,$(wildcard grader/$(d)/*.cpp)))
BENCH_SRC  := $(filter-out grader/bench/main.cpp,$(wildcard grader/bench/*.cpp))
# Optimised: code that makes the cases of a stage, takes medians of thousands of samples, or hashes. (Not what tests hypotheses on
# matrices: it takes 2.1 instead of 5.4 seconds to compile so, and 237 wrong kernels of labs 2 to 5 as long as before to grade.)
# Optimised further: code that fills matrices, or writes and reads reports with counts of every line, whose templates have
# to be inlined.
$(foreach d,commands compile diagnose explain gpu judge labs os report,$(BUILD)/obj/grader/$(d)/%.o) $(patsubst %,$(BUILD)/obj/grader/%.o,main messages version) \
  $(patsubst %.cpp,$(BUILD)/obj/%.o,$(filter-out %/cpu.cpp,$(BENCH_SRC)) grader/bench/main.cpp) $(GOALS_SRC:%.cpp=$(BUILD)/obj/%.o): private FLAGS := grader
$(patsubst %,$(BUILD)/obj/grader/%.o,judge/cases gpu/statistics os/sha256): private FLAGS := light
$(patsubst %,$(BUILD)/obj/grader/judge/%.o,protocol seeds): private FLAGS := inlined
# With OpenMP: the reference products, and the code that decides how many cores they may use.
$(BUILD)/obj/common/reference.o $(BUILD)/obj/grader/os/pool.o: private FLAGS := parallel
# The compiler's .d files do not list what the assembler puts into an object (grader/os/embed.hpp).
$(BUILD)/obj/grader/messages.o: grader/messages.toml
$(BUILD)/obj/grader/version.o: VERSION
$(BUILD)/obj/grader/explain/fragments.o: $(wildcard grader/explain/assets/*)
those = $(filter $(patsubst %,grader/$(1)/%.cpp,$(2)),$(GRADER_SRC))
all_but = $(filter-out $(patsubst %,grader/$(1)/%.cpp,$(2)),$(filter grader/$(1)/%,$(GRADER_SRC)))
$(call unit,grader/commands/commands,$(call all_but,commands))
$(call unit,grader/compile/compile,$(call all_but,compile))
$(call unit,grader/diagnose/sums,$(call those,diagnose,case formulas fragments places sums))
$(call unit,grader/diagnose/diagnose,$(call all_but,diagnose,case formulas fragments places sums))
$(call unit,grader/explain/page,$(call those,explain,draw explain_html))
$(call unit,grader/gpu/gpu,$(call all_but,gpu,session statistics))
$(call unit,grader/judge/judge,$(call all_but,judge,cases catch_main protocol seeds))
$(call unit,grader/os/os,$(call all_but,os,pool sha256))
# human.cpp comes last: it names a function as the others name parameters.
$(call unit,grader/report/report,$(call all_but,report,human) grader/report/human.cpp)
# Catch2's implementation: the grader's own main() starts its session.
GRADER_CATCH := grader/judge/catch_main.cpp
# The grader compiles the labs against this library and shows nothing of it to the student's process but the wire.
GRADER_NEEDS := $(CUDART_REMOTE)
GRADER_OBJECTS := $(call objects,$(GRADER_SRC) $(GRADER_CATCH) $(GOALS_SRC) $(COMMON_SRC)) $(LIBSERVER) $(LIBSIMGPU)
GRADER_LIBS := -lfmt -lz $(CATCH_V3)
$(GRADER): $(call objects,grader/main.cpp) $(GRADER_OBJECTS)
$(BENCH): $(call objects,grader/bench/main.cpp $(BENCH_SRC)) $(GRADER_OBJECTS)
$(GRADER) $(BENCH):
	$(call link,$(GRADER_LIBS))
PROGRAMS    += $(GRADER) $(BENCH)
ALL_OBJECTS += $(call objects,$(GRADER_SRC) $(GRADER_CATCH) $(BENCH_SRC) $(COMMON_SRC) $(GOALS_SRC) grader/main.cpp grader/bench/main.cpp)
