"""Compile LLVM's language to object code, for this processor or another; importing it imports llvmlite."""

from __future__ import annotations

import re

import llvmlite.binding as llvm

TRIPLE = re.compile(r'^target triple = ".*"$', re.M)
LAYOUT = re.compile(r'^target datalayout = ".*"$', re.M)
ENTRY = "linkwork_entry"  # the function that is called from outside
COMMON = re.compile(r"= common (local_unnamed_addr )?global")

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.initialize_native_asmparser()


def compile_object(
    text: str, triple: str, cpu: str, features: str, symbol: str, *, reloc: str = "pic", model: str = "jitdefault"
) -> bytes:
    """Return the object code of a module for a target, with only one visible symbol.

    Args:
        text: The module, not optimised.
        triple: LLVM's name of the target.
        cpu: LLVM's name of the processor.
        features: Further features of the processor, in LLVM's notation.
        symbol: Name of the function that is called from outside; all others become private.
        reloc: Relocation model: ``"pic"`` for libraries, ``"static"`` for WebAssembly.
        model: Code model: ``"jitdefault"`` for code anywhere in memory, ``"default"`` within one library.
    """
    text = text.replace(f"@{ENTRY}(", f"@{symbol}(")
    plain = COMMON.sub("= global", LAYOUT.sub("", TRIPLE.sub(f'target triple = "{triple}"', text)))
    module = llvm.parse_assembly(plain)
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc=reloc, codemodel=model
    )
    module.data_layout = str(machine.target_data)
    for one in (*module.functions, *module.global_variables):
        if not one.is_declaration and one.name != symbol:
            one.linkage = "private"  # keeps its long name out of the library
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))
