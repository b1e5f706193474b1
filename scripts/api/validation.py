"""What a function's @returns documentation says about its arguments, as C++ conditions."""

import re
from dataclasses import dataclass

from clang.cindex import TypeKind

NUMBERS = {TypeKind.ENUM, TypeKind.BOOL, TypeKind.UCHAR, TypeKind.USHORT, TypeKind.UINT, TypeKind.ULONG,
           TypeKind.ULONGLONG, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.SHORT, TypeKind.INT,
           TypeKind.LONG, TypeKind.LONGLONG, TypeKind.FLOAT, TypeKind.DOUBLE}

# Documented checks that must not be made here, with the reason. A parameter tagged [optional] is
# never checked for null, whatever the text says.
NOT_ENFORCED = {
    **{(f"zeMemAlloc{kind}", "0 != (alignment & (alignment - 1))"):
       "drivers give memory at any alignment, and programs ask for the size of what they allocate"
       for kind in ("Host", "Device", "Shared")},
    ("zeCommandListCreate", "0x3f < desc->flags"): "the driver lets the end of the enumeration pass",
    ("zeModuleCreate", "nullptr == desc->pInputModule"): "a module program in pNext has the inputs",
    ("zeModuleCreate", "0 == desc->inputSize"): "a module program in pNext has the inputs",
    ("zeModuleCreate", "::ZE_MODULE_FORMAT_NATIVE < desc->format"):
        "clients read the build log of a module in a format that is not there",
    ("zePhysicalMemCreate", "nullptr == hDevice"): "physical memory of the host has no device",
    ("zeVirtualMemQueryPageSize", "0 == size"): "drivers tell the size of a page for no size too",
    ("zetTracerExpCreate", "nullptr == desc->pUserData"): "clients have no user data to give",
}

# Checks that a quirk of Intel's driver changes (src/base/quirks.cpp): of these functions, with these
# results, where the condition matches. The first row that fits counts.
QUIRKS = [
    (quirk, re.compile(function), f"ZE_RESULT_ERROR_{result}", re.compile(condition))
    for quirk, function, result, condition in (
        ("accepts_null_context", "zeEventCounterBasedCreate|zexCounterBasedEventCreate2?",
         "INVALID_NULL_HANDLE", "hContext == nullptr"),
        ("accepts_partial_fill_pattern", "zeCommandListAppendMemoryFill.*", "INVALID_SIZE",
         r".*size % pattern_size.*"),
        ("accepts_pool_without_events", "zeEventPoolCreate", "INVALID_SIZE", r".*desc->count.*"),
        ("accepts_unknown_counter_flags", "zeEventCounterBasedCreate|zexCounterBasedEventCreate2?",
         "INVALID_ENUMERATION", r".*desc->flags.*"),
        ("accepts_unknown_flags", "zeEventPoolCreate|zeFenceCreate", "INVALID_ENUMERATION",
         r".*desc->flags.*"),
        ("accepts_unknown_flags", "zeEventCreate|zeEventCounterBasedCreate|zexCounterBasedEventCreate2?",
         "INVALID_ENUMERATION", r".*desc->(signal|wait)(Scope)?\b.*"),
        ("crash_on_null_extension_name", "zeDriverGetExtensionFunctionAddress", "INVALID_NULL_POINTER",
         "name == nullptr"),
        ("crash_on_null_handle", "zeCommandListAppend(SignalEvent|EventReset)", "INVALID_NULL_HANDLE",
         "hEvent == nullptr"),
        ("crash_on_null_handle", "zeCommandListAppendImageCopy(Region)?", "INVALID_NULL_HANDLE",
         "h(Dst|Src)Image == nullptr"),
        ("crash_on_null_handle", "zeCommandListAppendLaunch(Cooperative)?Kernel(Indirect)?",
         "INVALID_NULL_HANDLE", "hKernel == nullptr"),
        ("crash_on_null_pointer",
         "zeCommandListAppend(MemoryCopy.*|WriteGlobalTimestamp|WaitOnEvents|QueryKernelTimestamps"
         "|Launch(Cooperative)?Kernel(Indirect)?|LaunchMultipleKernelsIndirect)",
         "INVALID_NULL_POINTER", ".*"),
        ("crash_on_null_pointer", "zeCommandList(Immediate)?Append(?!Graph).*", "INVALID_SIZE",
         r".*nullptr == phWaitEvents.*"),
        ("no_shared_system_memory", "zeCommandListAppendMemoryFill.*", "INVALID_NULL_POINTER",
         "ptr == nullptr"),
        ("free_of_null_result", "zeMemFree", "INVALID_NULL_POINTER", "ptr == nullptr"),
    )
]

# What must hold for the quirk crash_on_null_pointer: where there is nothing to do, nothing is looked at.
HAS_WORK = {
    **{f"zeCommandListAppendMemoryCopy{kind}": "size != 0" for kind in ("", "WithParameters", "FromContext")},
    "zeCommandListAppendWaitOnEvents": "numEvents != 0",
    "zeCommandListAppendQueryKernelTimestamps": "numEvents != 0",
}

# The quirk crash_on_null_handle is that of the first parameter of every function but these, which look
# at it before they use it.
CHECKED_FIRST_HANDLE = re.compile(
    "zeEventCounterBased(Get|Open|Create).*|zeEventGetCounterBasedFlags|zeEventPoolPutIpcHandle"
    "|zeDeviceGet(Aggregated|CounterBased|RuntimeRequirements).*|zeDeviceValidateRuntimeRequirements"
    "|zeContextSystemBarrier|zeMemSetAtomicAccessAttributeExp|zeMemGetPitchFor2dImage"
    "|zeCommandListAppendLaunchKernelWith.*|zeCommandListCreateCloneExp|ze.*Graph.*")

# Entries that allocate nothing and are called millions of times a second: they are noexcept, so
# that the exported function is the null checks and a jump. A driver may define that function itself.
NOEXCEPT_ENTRIES = {"zeEventQueryStatus", "zeEventHostSignal", "zeEventHostReset",
                    "zeFenceQueryStatus"}


@dataclass
class Check:
    result: str     # ZE_RESULT_ERROR_…
    condition: str  # C++; true when the argument is refused
    quirk: str = ""  # that makes the driver do something else than to refuse it


def checks_of(function, headers):
    """The checks in the documented order, which puts handles and pointers first."""
    parameters = {p.name: p for p in function.parameters}
    null_checked = set()
    checks = []
    for result, condition in documented_conditions(function.documentation):
        if (function.name, condition) in NOT_ENFORCED:
            continue
        cpp = _Condition(condition, parameters, headers, null_checked).translate()
        if cpp:
            checks.append(Check(result, cpp, quirk_of(function, result, cpp)))
    return checks


def quirk_of(function, result, condition):
    """The quirk that changes this check, or ""."""
    for quirk, functions, refusal, conditions in QUIRKS:
        if refusal == result and functions.fullmatch(function.name) and conditions.fullmatch(condition):
            return quirk
    is_first_handle = (result == "ZE_RESULT_ERROR_INVALID_NULL_HANDLE"
                       and condition == f"{function.parameters[0].name} == nullptr")
    if (is_first_handle and re.match("ze[A-Z]", function.name)
            and not CHECKED_FIRST_HANDLE.fullmatch(function.name)):
        return "crash_on_null_handle"
    return ""


def documented_conditions(lines):
    """[(result, condition text)] of the @returns section."""
    result = None
    out = []
    for line in lines:
        if match := re.match(r"\s*- ::(ZE_RESULT_\w+)", line):
            result = match[1]
        elif re.match(r"\s*- ", line):
            result = None
        elif (match := re.match(r"\s*\+ (.*)", line)) and result:
            text = match[1].strip().rstrip(".")
            out.append((result, text.strip("`")))
    return out


def failure_value(function):
    """What a function that does not return a ze_result_t returns when it fails: the documented
    value, which stands last in its @returns."""
    text = " ".join(function.documentation)
    if "UINT32_MAX" in text:
        return "UINT32_MAX"
    return "nullptr" if function.result.endswith("handle_t") else "{}"


class _Condition:
    TOKEN = re.compile(r"\s*(::\w+|\w+->\w+|\w+|&&|\|\||[=!<>]=|[()<>%&*+-])")

    def __init__(self, text, parameters, headers, null_checked):
        self.text = text
        self.parameters = parameters
        self.headers = headers
        self.null_checked = null_checked  # parameters that earlier checks proved not to be null

    def translate(self):
        """The C++ text, or None when the documentation is prose or must not be enforced."""
        tokens = self.tokens()
        if tokens is None:
            return None
        if match := re.fullmatch(r"\(?nullptr == (\w+)\)?", self.text):
            if "optional" in self.parameters[match[1]].tags:
                return None
            self.null_checked.add(match[1])
            return f"{match[1]} == nullptr"
        if any(self.is_no_number(t) for t in tokens) and not self.compares_with_null(tokens):
            return None
        guards = [t.split("->")[0] for t in tokens if "->" in t]
        guard = "".join(f"{name} != nullptr && " for name in dict.fromkeys(guards)
                        if name not in self.null_checked)
        return guard + (self.upper_bound(tokens) or self.remainder(tokens) or self.plain(tokens))

    def is_no_number(self, token):
        """Of parameters and fields: pointers and handles, which only null can be compared with."""
        name, _, member = token.partition("->")
        if name not in self.parameters:
            return False
        type_ = (self.field_of(name, member) if member else self.parameters[name]).type
        return type_.get_canonical().kind not in NUMBERS

    def compares_with_null(self, tokens):
        """Each pointer stands beside == or != with nullptr on the other side."""
        for i, token in enumerate(tokens):
            if not self.is_no_number(token):
                continue
            before, after = tokens[max(i - 2, 0):i], tokens[i + 1:i + 3]
            if not (before[:1] == ["nullptr"] and before[1:] in (["=="], ["!="])
                    or after[1:] == ["nullptr"] and after[:1] in (["=="], ["!="])):
                return False
        return True

    def field_of(self, parameter, member):
        """Of the struct that the parameter points at, or None."""
        pointee = self.parameters[parameter].type.get_pointee().spelling.replace("const ", "")
        record = self.headers.record_of(pointee)
        found = record and [f for f in record.fields if f.name == member]
        return found[0] if found else None

    def tokens(self):
        out, at = [], 0
        while at < len(self.text):
            match = self.TOKEN.match(self.text, at)
            if not match or not self.known(match[1]):
                return None
            out.append(match[1])
            at = match.end()
        return out if len(out) > 1 else None

    def known(self, token):
        if "->" in token:
            return self.type_of(token) is not None
        if re.match(r"[A-Za-z_]", token):
            return token == "nullptr" or token in self.parameters
        return True

    def type_of(self, token):
        name, _, member = token.partition("->")
        parameter = self.parameters.get(name)
        if parameter is None or not member:
            return parameter and parameter.type.spelling
        found = self.field_of(name, member)
        return found and found.type.spelling

    def upper_bound(self, tokens):
        """`0x7 < flags` and `::LAST < value`: the bound comes from the type's own enumerators, for
        the number in the text may be older than they are."""
        if len(tokens) != 3 or tokens[1] != "<":
            return None
        kind = (self.type_of(tokens[2]) or "").replace("const ", "")
        bits = self.headers.enumeration_of(re.sub(r"_flags_t$", "_flag_t", kind))
        if bits is None:
            return None
        values = [v for n, v, _ in bits.values if not n.endswith("_FORCE_UINT32")]
        value = f"static_cast<uint32_t>({tokens[2]})"
        if kind.endswith("_flags_t"):
            mask = 0
            for v in values:
                mask |= v
            return f"({value} & ~uint32_t{{{mask:#x}}}) != 0"
        return f"{value} > {max(values):#x}u"

    def remainder(self, tokens):
        """`size % pattern_size != 0`: a divisor of 0 is refused too."""
        if tokens[1:2] != ["%"]:
            return None
        return f"({tokens[2]} == 0 || {' '.join(tokens)})"

    def plain(self, tokens):
        return "(" + " ".join(tokens) + ")"
