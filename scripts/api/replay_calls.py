"""Writes the table through which a replay makes calls: for every function of the API one that takes
the function's address and its arguments as 64-bit slots."""

from driver_entries import NOTICE


def replay_files(model):
    """{file name: text}"""
    out = [NOTICE, "#include <level_zero/ze_ddi_common.h>\n", '#include "api/zex_recorded_api.h"',
           '#include "replay/invocation.hpp"\n', "namespace zevent::replay {\n",
           "// In the order of the model's functions.",
           "const invocation invocations[] = {"]
    out += [f"    &invoke<decltype(::{name})>::call," for name in model.functions]
    out += ["};\n", "}  // namespace zevent::replay\n"]
    return {"replay_calls.cpp": "\n".join(out)}
