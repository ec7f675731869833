"""The map: one PTX instruction from text to a counter."""

from flow import flow


def draw(narrow=False):
    return flow(
        "architecture-instruction", "One PTX instruction, from text to a counter",
        "An instruction is read by the parser against a table, decoded into an operation with a handler and places in a register file, run for a "
        "warp at a time, counted per basic block and per memory instruction, and folded into counts per source line.",
        [
            ("once per module: ptx/", "panel", [
                ("lexer, parser", "ld.shared.f32 %f3, [%rd4+64]; becomes an opcode, modifiers and operands. The last .loc says which source line it is."),
                ("opcodes: its row", "Which modifiers, types and operands are allowed, as the PTX manual says. What is not in the table is one error "
                 "with the instruction and the line."),
                ("control_flow, liveness", "Basic blocks; live registers, from which the estimate of registers and occupancy comes."),
            ]),
            ("once per kernel: exec/decode*", "panel", [
                ("an Op", "A function pointer and the places of its operands, as byte offsets into a warp's registers: 32 lanes side by side. "
                 "Immediates are places, too. A memory instruction gets a site: a number for its counters."),
                ("count/load_merging", "Which loads from shared memory ptxas would have joined."),
            ]),
            ("for every warp: exec/", "mark", [
                ("interpreter", "Takes the lanes with the lowest program counter and runs their basic block. One addition per block counts all of its "
                 "arithmetic: executions, and active lanes."),
                ("the handler", "A loop over 32 lanes that the compiler turns into vector instructions; under a mask where lanes are off. Loads and "
                 "stores find the allocation first: bounds, initialised bytes."),
                ("check/", "Shadow words say who touched these bytes last, and whether a barrier lies between."),
                ("count/", "Sectors or wavefronts of these 32 addresses. A pattern that came before, shifted, costs what it cost then."),
            ]),
            ("once per launch: exec/fold", "panel", [
                ("LaunchReport", "Counters of blocks and of sites, of all host threads, become counts per source line, per allocation and in total."),
            ]),
        ], narrow)
