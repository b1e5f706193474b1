"""Writes the recorder's hooks: for every function of the API the exported C function that records a
call, in the bytes of src/api/call_codec.hpp, around the same function of the next driver."""

from driver_entries import NOTICE, signature
from profile_hooks import ProfileHook

HOOK_FILES = 4

# Programs begin with one of these: the driver behind is loaded before the time is taken.
FIRST_CALLS = ("zeInit", "zeInitDrivers", "zesInit")

# What is done with the arguments besides recording them, by the function's name. The functions that
# these statements call are hand-written; `memory` is the process's memory_capture, if it has one.
# Before the driver is entered:
BEFORE_CALL = {
    "zeModuleDestroy": "module_is_destroyed(hModule);",
    "zeKernelDestroy": "kernel_is_destroyed(hKernel);",
}

# When the call is recorded:
HAND_OUT = ("if (result == ZE_RESULT_SUCCESS && name != nullptr && ppFunctionAddress != nullptr)\n"
            "    *ppFunctionAddress = hook_for(name, *ppFunctionAddress);")
AFTER_CALL = {
    "zeInit": "if (result == ZE_RESULT_SUCCESS) describe_next_driver();",
    "zeInitDrivers": "if (result == ZE_RESULT_SUCCESS) describe_drivers(pCount, phDrivers);",
    "zeDriverGet": "if (result == ZE_RESULT_SUCCESS) describe_drivers(pCount, phDrivers);",
    "zeModuleCreate":
        "if (result == ZE_RESULT_SUCCESS && desc != nullptr && phModule != nullptr)\n"
        "    module_was_created(*phModule, *desc);",
    "zeKernelCreate":
        "if (result == ZE_RESULT_SUCCESS && desc != nullptr && phKernel != nullptr)\n"
        "    kernel_was_created(*phKernel, hModule, desc->pKernelName);",
    "zeKernelSetArgumentValue":
        "if (result == ZE_RESULT_SUCCESS && memory_capture::current() != nullptr)\n"
        "    argument_was_set(hKernel, argIndex, argSize, pArgValue);",
    "zeDriverGetExtensionFunctionAddress": HAND_OUT,
    "zesDriverGetExtensionFunctionAddress": HAND_OUT,
}

POSITION = "call.position()"
LISTS = "readable_span(phCommandLists, numCommandLists)"
QUEUE_LISTS = f"memory->lists_executed({POSITION}, {LISTS}, hCommandQueue)"
APPENDED_LISTS = f"memory->lists_executed({POSITION}, {LISTS}, hCommandListImmediate)"

WAITS = f"memory->waits({POSITION})"

# Before the driver is entered; true if it took a while.
MEMORY_BEFORE = {
    "zeEventHostSynchronize": WAITS,
    "zeEventQueryStatus": WAITS,
    "zeFenceHostSynchronize": WAITS,
    "zeFenceQueryStatus": WAITS,
    "zeCommandQueueSynchronize": WAITS,
    "zeCommandListHostSynchronize": WAITS,
    "zeDeviceSynchronize": WAITS,
    "zeEventHostSignal": f"memory->host_signals({POSITION})",
    "zeMemFree": "memory->freed(ptr)",
    "zeMemFreeExt": "memory->freed(ptr)",
    "zeVirtualMemFree": "memory->freed(ptr)",
    "zeContextDestroy": "memory->context_destroyed(hContext)",
    "zeMemCloseIpcHandle": "memory->freed(ptr)",
    "zeImageDestroy": "memory->image_destroyed(hImage)",
    "zeCommandListReset": "memory->list_reset(hCommandList)",
    "zeCommandListDestroy": "memory->list_destroyed(hCommandList)",
    "zeCommandListAppendMemoryCopyRegion":
        f"memory->region_copy_appended({POSITION}, hCommandList, srcptr, srcRegion, srcPitch, "
        "srcSlicePitch)",
    "zeCommandListAppendImageCopyFromMemory":
        f"memory->image_copy_appended({POSITION}, hCommandList, hDstImage, srcptr, pDstRegion, 0, 0)",
    "zeCommandListAppendImageCopyFromMemoryExt":
        f"memory->image_copy_appended({POSITION}, hCommandList, hDstImage, srcptr, pDstRegion, "
        "srcRowPitch, srcSlicePitch)",
    "zeCommandQueueExecuteCommandLists": QUEUE_LISTS,
    "zeCommandListImmediateAppendCommandListsExp": APPENDED_LISTS,
    "zeCommandListImmediateAppendCommandListsWithParameters": APPENDED_LISTS,
}

# After it returned with success.
WAITED = f"memory->waited({POSITION})"
SUBMITTED = f"memory->submitted({POSITION}, hCommandListImmediate)"


def allocated(kind, device):
    return (f"memory->allocated(*pptr, size, memory_capture::allocation_kind::{kind}, hContext, "
            f"{device})")


IMPORTED = "memory->imported(*pptr)"
MEMORY_AFTER = {
    "zeMemAllocHost": allocated("host", "nullptr"),
    "zeMemAllocShared": allocated("shared", "hDevice"),
    "zeMemAllocDevice": allocated("device", "hDevice"),
    "zeVirtualMemReserve": allocated("reserved", "nullptr"),
    "zeMemGetIpcHandle": "memory->exported(ptr)",
    "zeMemGetIpcHandleWithProperties": "memory->exported(ptr)",
    "zeMemOpenIpcHandle": IMPORTED,
    "zeMemOpenIpcHandleWithProperties": IMPORTED,
    "zeImageCreate": "memory->image_created(*phImage, *desc)",
    "zeImageViewCreateExt": "memory->image_created(*phImageView, *desc)",
    "zeImageViewCreateExp": "memory->image_created(*phImageView, *desc)",
    "zeCommandListCreate": "memory->list_created(*phCommandList, hContext, hDevice)",
    "zeCommandListCreateCloneExp": "memory->list_cloned(*phClonedCommandList, hCommandList)",
    "zeCommandListCreateImmediate":
        "memory->immediate_list_created(*phCommandList, hContext, hDevice, altdesc)",
    "zeCommandQueueCreate": "memory->queue_created(*phCommandQueue, desc)",
    "zeCommandQueueExecuteCommandLists": f"memory->submitted({POSITION}, hCommandQueue)",
    "zeCommandListImmediateAppendCommandListsExp": SUBMITTED,
    "zeCommandListImmediateAppendCommandListsWithParameters": SUBMITTED,
    "zeEventHostSynchronize": WAITED,
    "zeEventQueryStatus": WAITED,
    "zeFenceHostSynchronize": WAITED,
    "zeFenceQueryStatus": WAITED,
    "zeCommandQueueSynchronize": f"memory->waited({POSITION}, hCommandQueue)",
    "zeCommandListHostSynchronize": f"memory->waited({POSITION}, hCommandList)",
    "zeDeviceSynchronize": WAITED,
}

# Commands whose parameter "ptr" is no target.
HINTS = ("zeCommandListAppendMemAdvise", "zeCommandListAppendMemoryPrefetch")


def memory_written(function):
    """The statement for commands that write memory follows from their parameters."""
    names = {p.name for p in function.parameters}
    if ("Append" not in function.name or "hCommandList" not in names or function.name in HINTS
            or function.is_newer):
        return None
    size = "size" if "size" in names else "0"
    for target in ("dstptr", "ptr"):
        if target in names:
            return f"memory->write_appended(hCommandList, {target}, {size})"
    if names & {"hKernel", "phKernels", "hGraph"}:
        return "memory->write_appended(hCommandList)"
    return None


def memory_after(function):
    """Commands that write memory may be appended to a list that waits for them."""
    if memory_written(function):
        return f"memory->submitted({POSITION}, hCommandList)"
    return MEMORY_AFTER.get(function.name)


def memory_before(function):
    """The statement for commands that read memory follows from their parameters."""
    if function.name in MEMORY_BEFORE or "Append" not in function.name or function.is_newer:
        return MEMORY_BEFORE.get(function.name)
    names = {p.name for p in function.parameters}
    if {"hCommandList", "dstptr", "srcptr", "size"} <= names:
        return f"memory->copy_appended({POSITION}, hCommandList, dstptr, srcptr, size)"
    if {"hCommandList", "ptr", "pattern", "size"} <= names:
        return "memory->fill_appended(ptr, size)"
    if {"hCommandList", "hKernel"} <= names:
        given = "hKernel, pArguments" if "pArguments" in names else "hKernel"
        return f"memory->launch_appended({POSITION}, hCommandList, address_arguments({given}))"
    if "hCommandList" in names and names & {"phKernels", "hGraph"}:
        return f"memory->reading_command_appended({POSITION}, hCommandList)"
    return None


def recorder_files(model, headers):
    """{file name: text}"""
    records = _Records(model)
    functions = list(model.functions.values())
    share = -(-len(functions) // HOOK_FILES)
    files = {}
    for number in range(HOOK_FILES):
        hooks = [_Hook(model, headers, records, f, index).text()
                 for index, f in enumerate(functions) if index // share == number]
        files[f"recorder_hooks_{number}.cpp"] = "\n".join(
            [NOTICE, INCLUDES, "using namespace zevent::recorder;\n", *hooks])
    files["recorder_addresses.cpp"] = addresses(model, headers)
    files["recorder_invocations.cpp"] = invocations(model)
    files["recorder_records.hpp"], files["recorder_records.cpp"] = records.files()
    return files


INCLUDES = """#include <level_zero/ze_ddi_common.h>

#include "api/zex_recorded_api.h"
#include "recorder/driver_description.hpp"
#include "recorder/kernel_arguments.hpp"
#include "recorder/memory_capture.hpp"
#include "recorder/open_call.hpp"
#include "recorder/profiler.hpp"
#include "recorder_records.hpp"
"""


def addresses(model, headers):
    names = list(model.functions)
    stub = [f"next_stub<{i}, decltype(::{name})>" for i, name in enumerate(names)]
    out = [NOTICE, INCLUDES, '#include "recorder/next_driver.hpp"\n',
           "namespace zevent::recorder {\n",
           "std::atomic<void*> next_addresses[] = {"]
    out += [f"    reinterpret_cast<void*>(&{s}::load)," for s in stub]
    out += ["};\n", "void* const absent_addresses[] = {"]
    out += [f"    reinterpret_cast<void*>(&{s}::absent)," for s in stub]
    out += ["};\n", "void* const hook_addresses[] = {"]
    out += [f"    reinterpret_cast<void*>(&::{name})," for name in names]
    out += ["};\n", "}  // namespace zevent::recorder\n"]
    for index, table in enumerate(headers.tables.values()):
        if not table.getter:
            continue
        out.append(f"ze_result_t {table.getter}(ze_api_version_t version, {table.name}* pDdiTable) {{\n"
                   f"  return zevent::recorder::hand_out_table(version, pDdiTable, {index});\n}}\n")
    return "\n".join(out)


def invocations(model):
    """For the recorder's tests: calls any hook with arguments given by their addresses, and a next
    driver that hands them on."""
    out = [NOTICE, INCLUDES, '#include "invocations.hpp"\n',
           "namespace zevent::recorder_test {", "namespace {\n", INVOCATION_TEMPLATES,
           "}  // namespace\n", "const invocation invocations[] = {"]
    for index, name in enumerate(model.functions):
        out.append(f"    {{&invoke<::{name}>::call,"
                   f" reinterpret_cast<void*>(&fake<{index}, decltype(::{name})>::call)}},")
    out += ["};\n", "}  // namespace zevent::recorder_test\n"]
    return "\n".join(out)


INVOCATION_TEMPLATES = """template <auto Function>
struct invoke;

template <typename Result, typename... Parameters, Result (*Function)(Parameters...)>
struct invoke<Function> {
  static uint64_t call(void* const* arguments) {
    return with(arguments, std::index_sequence_for<Parameters...>());
  }
  template <size_t... I>
  static uint64_t with([[maybe_unused]] void* const* arguments, std::index_sequence<I...>) {
    return (uint64_t)Function(*static_cast<std::remove_const_t<Parameters>*>(arguments[I])...);
  }
};

template <uint16_t Index, typename Signature>
struct fake;

template <uint16_t Index, typename Result, typename... Parameters>
struct fake<Index, Result(Parameters...)> {
  static Result call(Parameters... values) {
    const void* arguments[] = {&values..., nullptr};
    return (Result)driver_was_called(Index, arguments);
  }
};
"""


class _Writer:
    """Statements that write variables. Runs of bytes whose size is known here are claimed at
    once."""

    def __init__(self, model, records, out):
        self.model = model
        self.records = records
        self.out = out          # the C++ expression of the call_writer
        self.lines = []
        self.run = []           # (bytes, statement with {} for the place)
        self.indent = 1
        self.depth = 0

    def line(self, text):
        self.flush()
        self.lines.append("  " * self.indent + text)

    def flush(self):
        run, self.run = self.run, []
        if not run:
            return
        total = sum(size for size, _ in run)
        self.lines.append("  " * self.indent + "{")
        self.lines.append("  " * self.indent + f"  std::byte* place = {self.out}.claim({total});")
        offset = 0
        for size, statement in run:
            place = f"place + {offset}" if offset else "place"
            self.lines.append("  " * self.indent + "  " + statement.format(place))
            offset += size
        self.lines.append("  " * self.indent + "}")

    def block(self, head):
        return _Block(self, head)

    def store(self, size, value):
        self.run.append((size, f"call_writer::store<{size}>({{}}, {value});"))

    def copy(self, size, value):
        self.run.append((size, f"std::memcpy({{}}, &{value}, {size});"))

    def variable(self, v, value, part, scope):
        """`scope` turns the name of a sibling into its C++ expression."""
        type_ = self.model.types[v.type]
        if not v.array:
            self.element(type_, value, part, v.extent, v.extent and v.extent.inner, scope, "0")
        elif type_.kind == "record" or type_.kind == "pointer":
            index = self.loop_variable()
            with self.block(f"for (size_t {index} = 0; {index} < {v.array}; ++{index})"):
                self.element(type_, f"{value}[{index}]", part, v.extent,
                             v.extent and v.extent.inner, scope, index)
        else:
            self.copy(v.array * type_.size, value)

    def loop_variable(self):
        self.depth += 1
        return f"i{self.depth}"

    def element(self, type_, value, part, extent, inner, scope, index):
        """What is in memory: a parameter, a field, an element, or what a pointer points at."""
        if type_.kind == "record":
            record = self.model.records[type_.of]
            if record.is_union:
                self.copy(record.size, value)
            elif self.records.is_flat(record, part):
                self.fields(record, value, part)
            else:
                self.line(f"{self.records.writer(record, part)}({self.out}, {value});")
            return
        self.store(type_.size, value)
        if type_.kind == "pointer" and is_followed(extent):
            with self.block(f"if (is_address({value}))"):
                self.content(self.model.types[type_.of], value, part, extent, inner, scope, index)
            with self.block(f"else if ({value} != nullptr)"):
                self.store(1, "zevent::api::content_form::nothing")

    def fields(self, record, value, part):
        for f in record.fields:
            if has_field(part, f.direction):
                self.variable(f, f"{value}.{f.name}", below(part, f.direction),
                              lambda name: f"{value}.{name}")

    def content(self, pointee, value, part, extent, inner, scope, index):
        if pointee.kind == "record" and not has_any_field(self.model.records[pointee.of], part):
            self.store(1, "zevent::api::content_form::nothing")
        elif extent.kind == "single":
            self.store(1, "zevent::api::content_form::here")
            self.element(pointee, f"(*{value})", part, inner, None, scope, "0")
        elif extent.kind == "elements":
            self.elements(pointee, value, part, extent, inner, scope, index)
        elif extent.kind == "string":
            self.line(f"{self.out}.string({value});")
        elif extent.kind == "chain":
            self.line(f"write_chain({self.out}, {value}, zevent::api::record_part::{part});")
        else:
            self.external(extent.length, value, scope)

    def external(self, who, value, scope):
        if who == "kernel arguments":
            self.line(f"write_kernel_arguments({self.out}, {scope('hKernel')}, {value});")
        elif who == "specialization constant":
            self.line(f"write_specialization_constant({self.out}, {value});")
        else:
            self.store(1, "zevent::api::content_form::nothing")

    def elements(self, pointee, value, part, extent, inner, scope, index):
        length = self.length(extent.length, scope, index)
        if extent.length.startswith(("*", "call.*")):
            length = f"{self.out}.valid_length({value}, {length})"
        if is_byte(pointee):
            self.line(f"{self.out}.bytes({value}, {length});")
            return
        if pointee.kind != "record" and not is_followed(inner):
            self.line(f"{self.out}.elements<{pointee.size}>({value}, {length});")
            return
        each = self.loop_variable()
        self.line(f"const uint64_t n{each} = {length};")
        with self.block(f"for (uint64_t {each} = {self.out}.begin_elements({value}, n{each}) ? 0 : "
                        f"n{each}; {each} < n{each}; ++{each})"):
            self.element(pointee, f"{value}[{each}]", part, inner, None, scope, each)

    def length(self, text, scope, index):
        if text.startswith("call.*"):
            return f"{self.out}.call_length()"
        if text.startswith("*"):
            name = scope(text[1:])
            return f"(is_address({name}) ? uint64_t{{*{name}}} : 0)"
        if text.endswith("[]"):
            name = scope(text[:-2])
            return f"(is_address({name}) ? uint64_t{{{name}[{index}]}} : 0)"
        return f"uint64_t{{{scope(text)}}}"


class _Block:
    def __init__(self, writer, head):
        self.writer = writer
        self.head = head

    def __enter__(self):
        self.writer.line(self.head + " {")
        self.writer.indent += 1

    def __exit__(self, *_):
        self.writer.flush()
        self.writer.indent -= 1
        self.writer.line("}")


class _Records:
    """The functions that write structs, one for each half that is needed."""

    def __init__(self, model):
        self.model = model
        self.wanted = {}
        for record in model.records.values():
            if record.stypes:
                for part in ("all", "inputs", "outputs"):
                    self.writer(record, part)

    def writer(self, record, part):
        name = f"write_{record.name}_{part}"
        self.wanted.setdefault(name, (record, part))
        return name

    def is_flat(self, record, part):
        """Nothing but numbers: its fields may be written where it is."""
        for f in record.fields:
            type_ = self.model.types[f.type]
            if type_.kind == "record":
                inner = self.model.records[type_.of]
                if f.array or not (inner.is_union or self.is_flat(inner, part)):
                    return False
            elif type_.kind == "pointer" and is_followed(f.extent):
                return False
        return len(record.fields) <= 16

    def files(self):
        bodies, done = [], set()
        while len(done) < len(self.wanted):  # writing one may ask for others
            for name, (record, part) in list(self.wanted.items()):
                if name not in done:
                    done.add(name)
                    bodies.append(self.body(name, record, part))
        declarations = [f"void {name}(call_writer& out, const {record.name}& r);"
                        for name, (record, _) in self.wanted.items()]
        header = "\n".join([
            NOTICE, "#pragma once\n", "#include <level_zero/ze_ddi_common.h>\n",
            '#include "api/call_codec.hpp"', '#include "api/zex_recorded_api.h"',
            '#include "recorder/call_writer.hpp"\n', "namespace zevent::recorder {\n",
            *declarations,
            "\n// The struct at `address`, by its stype, and what is chained to it.",
            "void write_chain(call_writer& out, const void* address, api::record_part part);\n",
            "}  // namespace zevent::recorder\n"])
        source = "\n".join([NOTICE, '#include "recorder_records.hpp"\n',
                            '#include "recorder/kernel_arguments.hpp"\n',
                            "namespace zevent::recorder {\n", *bodies, self.chain(),
                            "}  // namespace zevent::recorder\n"])
        return header, source

    def body(self, name, record, part):
        writer = _Writer(self.model, self, "out")
        writer.fields(record, "r", part)
        writer.flush()
        unused = "" if writer.lines else "[[maybe_unused]] "
        return "\n".join([f"void {name}({unused}call_writer& out, {unused}const {record.name}& r) {{",
                          *writer.lines, "}\n"])

    def chain(self):
        out = [CHAIN_HEAD]
        for space in ("ze", "zet", "zes"):
            seen = set()
            out.append(f"void write_chained_{space}(call_writer& out, uint32_t stype, const void* address,\n"
                       "                      api::record_part part) {\n  switch (stype) {")
            for record in self.model.records.values():
                if record.stypes and space == (record.api if record.api in ("zet", "zes") else "ze"):
                    new = [s for s in dict.fromkeys(record.stypes) if s not in seen]
                    if not new:
                        continue  # the number has another meaning already
                    seen.update(new)
                    out += [f"    case {stype:#x}:" for stype in new]
                    out.append(f"      return write_record<{record.name}>(out, stype, address, part,\n"
                               f"          write_{record.name}_all, write_{record.name}_inputs,\n"
                               f"          write_{record.name}_outputs);")
            out.append("    default:\n      out.unknown_in_chain(stype);\n  }\n}\n")
        out.append(CHAIN_TAIL)
        return "\n".join(out)


CHAIN_HEAD = """namespace {

template <typename Record>
using record_writer = void(call_writer&, const Record&);

template <typename Record>
void write_record(call_writer& out, uint32_t stype, const void* address, api::record_part part,
                  record_writer<Record>* all, record_writer<Record>* inputs,
                  record_writer<Record>* outputs) {
  if (!out.enter_chain()) return out.form(api::content_form::nothing);
  std::byte* place = out.claim(5);
  call_writer::store<1>(place, api::content_form::here);
  call_writer::store<4>(place + 1, stype);
  const auto& record = *static_cast<const Record*>(address);
  switch (part) {
    case api::record_part::all:
      all(out, record);
      break;
    case api::record_part::inputs:
      inputs(out, record);
      break;
    case api::record_part::outputs:
      outputs(out, record);
      break;
  }
  out.leave_chain();
}
"""

CHAIN_TAIL = """}  // namespace

void write_chain(call_writer& out, const void* address, api::record_part part) {
  if (out.is_after_call() && part == api::record_part::all)
    return out.form(api::content_form::nothing);
  uint32_t stype;
  std::memcpy(&stype, address, sizeof(stype));
  switch (out.chain_space()) {
    case api::api_name::zet:
      return write_chained_zet(out, stype, address, part);
    case api::api_name::zes:
      return write_chained_zes(out, stype, address, part);
    default:
      return write_chained_ze(out, stype, address, part);
  }
}
"""


class _Hook:
    def __init__(self, model, headers, records, function, index):
        self.model = model
        self.headers = headers
        self.records = records
        self.function = function
        self.index = index

    def text(self):
        f = self.function
        declared = self.headers.functions[f.name]
        outputs = self.outputs()
        is_result = f.result == "ze_result_t"
        body = self.inputs()
        before = memory_before(f)
        if f.name in BEFORE_CALL:
            body.append(f"  {BEFORE_CALL[f.name]}")
        written = memory_written(f)
        if before or written:
            body.append("  if (auto* memory = memory_capture::current()) {")
            # What the host wrote is noted before the command counts as one that may write.
            body += [f"    if ({before}) call.restart();"] if before else []
            body += [f"    {written};"] if written else []
            body.append("  }")
        profile = ProfileHook(self.model, f)
        body += [f"  {line}" for line in profile.before]
        arguments = ", ".join(profile.arguments.get(p.name, p.name) for p in f.parameters)
        constness = "" if profile.changes_result else "const "
        body.append(f"  {constness}{declared.result} result = next_function<{self.index}, "
                    f"decltype(::{f.name})>()({arguments});")
        status = "static_cast<uint32_t>(result)" if is_result else "0"
        if outputs:
            body += [f"  if (call.returned({status}, true)) try {{", *outputs,
                     "    call.publish_outputs();", "  } catch (const std::bad_alloc&) {",
                     "    call.lose_outputs();", "  }"]
        else:
            body.append(f"  call.returned({status}, false);")
        after = memory_after(f)
        if after:
            body += ["  if (result == ZE_RESULT_SUCCESS)",
                     f"    if (auto* memory = memory_capture::current()) {after};"]
        body += [f"  {line}" for line in profile.after]
        body.append("  call.complete();")
        if f.name in AFTER_CALL:
            body.append(f"  {AFTER_CALL[f.name]}")
        return "\n".join([f"{signature(declared)} {{", *body, "  return result;", "}\n"])

    def writer(self):
        writer = _Writer(self.model, self.records, "call")
        writer.indent = 2
        return writer

    def inputs(self):
        f = self.function
        writer = self.writer()
        lines = ["  open_call call;"]
        if f.name in FIRST_CALLS:
            lines.insert(0, f"  load_before_first_call<{self.index}, decltype(::{f.name})>();")
        if self.call_length():
            lines.append(self.call_length())
        if f.api in ("zet", "zes"):
            lines.append(f"  call.set_chain_space(zevent::api::api_name::{f.api});")
        for p in f.parameters:
            type_ = self.model.types[p.type]
            if type_.kind == "pointer" and p.direction == "out":
                writer.store(8, p.name)
                if p.extent.kind == "elements" and p.extent.length.startswith("*"):
                    length = writer.length(p.extent.length, str, "0")
                    writer.line(f"if (is_address({p.name})) call.valid_length({p.name}, {length});")
            else:
                writer.variable(p, p.name, "inputs" if p.direction == "inout" else "all", str)
        least = sum(size for size, _ in writer.run) if not writer.lines else 64
        writer.flush()
        return lines + [f"  if (call.begin({least})) try {{", *writer.lines,
                        f"    call.publish({self.index});", "  } catch (const std::bad_alloc&) {",
                        "    call.lose();", "  }"]

    def call_length(self):
        """For structs with fields whose length a parameter of the call points at."""
        for p in self.function.parameters:
            type_ = self.model.types[p.type]
            record = type_.kind == "pointer" and self.model.records.get(
                self.model.types[type_.of].of)
            for field in record.fields if record else []:
                if field.extent and field.extent.length.startswith("call.*"):
                    name = field.extent.length.removeprefix("call.*")
                    return f"  call.set_call_length(is_address({name}) ? *{name} : 0);"
        return ""

    def outputs(self):
        f = self.function
        writer = self.writer()
        if self.call_length():
            writer.line(self.call_length().strip())
        if f.result != "ze_result_t":
            writer.store(self.model.types[f.result].size, "result")
        empty = True
        for p in f.parameters:
            type_ = self.model.types[p.type]
            if p.direction == "in" or type_.kind != "pointer" or not is_followed(p.extent):
                continue
            empty = False
            with writer.block(f"if (!is_address({p.name}))"):
                writer.store(1, "zevent::api::content_form::nothing")
            with writer.block("else"):
                writer.content(self.model.types[type_.of], p.name,
                               "outputs" if p.direction == "inout" else "all",
                               p.extent, p.extent.inner, str, "0")
        writer.flush()
        return writer.lines if not empty or f.result != "ze_result_t" else []


def is_followed(extent):
    return extent is not None and extent.kind != "address"


def is_byte(type_):
    return type_.kind in ("void", "character") or (type_.kind == "unsigned" and type_.size == 1)


def has_field(part, direction):
    return part == "all" or direction == "inout" or direction == {"inputs": "in",
                                                                  "outputs": "out"}[part]


def below(part, direction):
    return part if direction == "inout" else "all"


def has_any_field(record, part):
    return record.is_union or any(has_field(part, f.direction) for f in record.fields)
