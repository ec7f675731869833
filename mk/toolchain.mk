# How C++ is compiled. No -g: nobody debugs the grader of a course; CXXFLAGS=-g is for those who do.
WARN := -Wall -Wextra -Wpedantic -Wshadow
ALL_CXXFLAGS = -std=c++20 $(OPT) -pthread $(WARN) -I. $(if $(DEPS),-isystem $(DEPS)/include) $(FLAGS_$(FLAGS)) $(CXXFLAGS)
# FLAGS of an object: what a student waits for first is the compiler, so only what is hot is optimised.
FLAGS_quick := -O0
FLAGS_grader := -O0
FLAGS_light := -O1 -fno-strict-aliasing
FLAGS_tests := -O0
FLAGS_parallel := -fopenmp
# Lanes are loops for the vectoriser; a*b+c must never become an fma by itself; registers are read as other types.
# No warnings about the loops that clang does not vectorise.
LANES := -ffp-contract=off -fno-strict-aliasing -fno-math-errno -fno-trapping-math -Wno-pass-failed
# For this machine's vector instructions, in two levels. Results are the same. In a build folder that is moved to an older
# processor the flags differ, so everything is built again.
X86_64_V3 := $(foreach f,AVX2 BMI BMI2 F16C FMA LZCNT MOVBE,__$(f)__)
VECTORS := $(if $(filter-out $(shell $(CXX) -march=native -dM -E -x c++ /dev/null 2>/dev/null),$(X86_64_V3)),,-march=x86-64-v3)
FLAGS_lanes := -O3 $(LANES) $(VECTORS)
FLAGS_inlined := -O2 -ffp-contract=off $(VECTORS)

# Of test-sanitized, which gives each of them a build folder of its own.
ifneq ($(and $(SANITIZE),$(findstring /sanitized-,$(BUILD))),)
override QUICK_CXX := $(CXX)
override CXXFLAGS += -g1 -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_lanes := $(patsubst -O3,-O1,$(FLAGS_lanes))
endif

# Without optimisation clang takes less time than g++, and most machines have one for the labs; with it g++ is faster,
# and vectorises the lanes better. If you name a compiler, it compiles everything (QUICK_CXX in settings.mk).
compiler = $(if $(filter quick grader tests,$(FLAGS)),$(QUICK_CXX),$(CXX))

# The standard library is half of what a compiler reads: once per set of flags instead of once per file, for the grader
# with {fmt} and the JSON library. clang can instantiate there what the header itself uses; else each file would do it
# again. (Nine files of the grader, unoptimised, seconds of a processor: 26 with the standard library alone, 20 so.)
# Not with ccache, which does not cache what was compiled with such a header.
PRECOMPILED ?= $(if $(filter ccache,$(notdir $(CXX) $(QUICK_CXX))),,1)
ifneq ($(filter-out 0,$(PRECOMPILED)),)
HEADERS       := $(foreach f,quick light lanes,$(BUILD)/headers/$(f)/standard.hpp.gch)
GRADER_HEADER := $(BUILD)/headers/grader/standard.hpp.gch
TESTS_HEADER  := $(BUILD)/headers/tests/standard.hpp.gch
# Two or three files are compiled faster than a header for them.
header       = $(if $(filter-out parallel inlined,$(FLAGS)),$(BUILD)/headers/$(FLAGS)/standard.hpp)
$(HEADERS): common/standard.hpp
$(GRADER_HEADER): grader/standard.hpp common/standard.hpp
$(TESTS_HEADER): common/tests/standard.hpp common/standard.hpp common/catch2.hpp
# clang's name what they were made of by absolute paths: so they are made anew where a clone was moved to, and only they.
# Their .d files list the system's headers too (-MD): after an update of the system clang refuses what it made before.
$(HEADERS) $(GRADER_HEADER) $(TESTS_HEADER): $(BUILD)/flags $(BUILD)/folder
	@mkdir -p $(@D) && cp $(firstword $(filter %.hpp,$^)) $(@D)/
	$(Q)$(compiler) $(ALL_CXXFLAGS) $(if $(findstring clang,$(notdir $(compiler))),-fpch-instantiate-templates) \
	  -MD -MP -MF $@.d -MT $@ -x c++-header $(firstword $(filter %.hpp,$^)) -o $@
$(foreach f,quick grader light lanes tests,$(eval $(BUILD)/headers/$(f)/standard.hpp.gch: private FLAGS := $(f)))
endif

# Files that are compiled as one: what they include is read, and its templates are instantiated, once. (The ten files of
# exec/blocks, seconds of a processor: 18 one by one, 7 together.) $(call unit,NAME,FILES): NAME has the flags of its
# folder. Only for files that every program links together. UNITS=0 compiles each by itself, which says whether it includes
# what it uses.
UNITS ?= 1
unit = $(if $(filter-out 0,$(UNITS)),$(eval UNIT_$(1) := $(2))$(foreach f,$(2),$(eval UNIT_OF_$(f) := $(1).unit)))
objects = $(sort $(foreach f,$(1),$(BUILD)/obj/$(or $(UNIT_OF_$(f)),$(f:.cpp=)).o))

.SECONDEXPANSION:
compile = $(Q)$(compiler) $(ALL_CXXFLAGS) $(addprefix -include ,$(header)) -MMD -MP
# The same paths come into .d files, where they would end a build in the clone's next place.
HELD := common/standard grader/standard common/tests/standard common/catch2
relative = $(if $(header), && sed -E 's#(^| )/([^ ]|\\ )*/($(subst $(space),|,$(HELD)))\.hpp#\1\3.hpp#g' $(@:.o=.d) >$(@:.o=.d.new) && \
  mv $(@:.o=.d.new) $(@:.o=.d))
$(BUILD)/obj/%.o: %.cpp $(BUILD)/flags | $$(addsuffix .gch,$$(header))
	@mkdir -p $(@D); $(call progress,$<)
	$(compile) -c $< -o $@$(relative)
# Remade also if its list of files has changed. The last line of its .d file records the list.
other_files = $(if $(filter-out $(UNIT_$(1)),$(BUILT_$(1)))$(filter-out $(BUILT_$(1)),$(UNIT_$(1))),always)
$(BUILD)/obj/%.unit.o: $$(UNIT_$$*) $(BUILD)/flags $$(call other_files,$$*) | $$(addsuffix .gch,$$(header))
	@mkdir -p $(@D); $(call progress,$*: $(words $(UNIT_$*)) files)
	@printf '#include "%s"\n' $(UNIT_$*) >$(@:.o=.cpp)
	$(compile) -c $(@:.o=.cpp) -o $@$(relative) && echo 'BUILT_$* := $(UNIT_$*)' >>$(@:.o=.d)

# If flags, compiler or processor have changed, everything is built again. Compared while the Makefile is read: a dry run,
# which counts what there is to do, comes to the same answer.
FLAGS_NOW := $(CXX) $(QUICK_CXX) $(ALL_CXXFLAGS) $(foreach f,quick grader light tests lanes,$(FLAGS_$(f)))
ifneq ($(strip $(shell cat $(BUILD)/flags 2>/dev/null)),$(strip $(FLAGS_NOW)))
$(BUILD)/flags: always
endif
$(BUILD)/flags:
	@[ -e $(BUILD) ] || sh $(SCRIPTS)/new_build.sh $(BUILD); echo '$(FLAGS_NOW)' >$@

-include $(shell find $(BUILD)/obj $(BUILD)/headers -name '*.d' 2>/dev/null)

# Catch2 3 is a library, 2 a header. DEPS=folder stands in for what is installed, when a program is linked and when it
# starts. {fmt} is linked, not header-only: a file that formats with <fmt/core.h> then compiles as fast as one without
# (else 2 s more each).
CATCH_V3   := $(if $(wildcard $(DEPS)/include/catch2/catch_all.hpp /usr/include/catch2/catch_all.hpp \
  /usr/local/include/catch2/catch_all.hpp),-lCatch2)
DEPS_LIB   := $(if $(DEPS),-L$(DEPS)/lib -Wl$(comma)-rpath$(comma)$(abspath $(DEPS))/lib)
# The engine's objects come first: the linker keeps the first copy of a template's functions, and the grader's are not optimised.
linked = $(if $(filter $(LIBSIMGPU),$^),-Wl$(comma)--whole-archive $(LIBSIMGPU) -Wl$(comma)--no-whole-archive) \
  $(filter-out $(LIBSIMGPU),$(filter %.o,$^) $(filter %.a,$^))
# $(1): libraries.
define link
@mkdir -p $(@D); $(call progress,$(@F))
$(Q)$(CXX) -pthread -fopenmp $(linked) $(DEPS_LIB) $(1) -o $@
endef

# For editors, from the commands that make runs: a dry run of everything. The precompiled headers are left out; they are
# g++'s own, and not there before the first build. So are units: an editor asks about a file.
.PHONY: objects compdb
objects: $$(ALL_OBJECTS)
compdb: ## write compile_commands.json, for editors
	@$(MAKE) -s -n -B PRECOMPILED=0 UNITS=0 V=1 objects | sh $(SCRIPTS)/compdb.sh >compile_commands.json.new && \
	  mv compile_commands.json.new compile_commands.json && echo 'wrote compile_commands.json'
