"""The API generator against what the headers themselves say, for an old and a new set of headers.

generator_test.py GENERATOR_FOLDER ZEX_HEADER RECORDED_HEADER OLD_INCLUDE NEW_INCLUDE"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

GENERATOR, ZEX, RECORDED, OLD, NEW = sys.argv[1:6]
APIS = ("ze", "zer", "zet", "zes")


def dump_model(include):
    out = subprocess.run([sys.executable, os.path.join(GENERATOR, "generate.py"), "--include",
                          include, "--zex", ZEX, "--recorded", RECORDED, "--dump-json"],
                         check=True, capture_output=True)
    return json.loads(out.stdout)


def header_text(include, kind):
    """All headers of a kind as text, without what the generator does not look at either."""
    paths = [os.path.join(include, "level_zero", f"{api}_{kind}.h") for api in APIS]
    texts = []
    for path in filter(os.path.exists, paths):
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    if kind == "api":
        knows_graphs = any("define ZE_RECORD_REPLAY_GRAPH_EXT_NAME" in each for each in texts)
        texts += [own_text(ZEX), own_text(RECORDED) if knows_graphs else without_graphs(own_text(RECORDED))]
    return "\n".join(texts)


def own_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def without_graphs(text):
    """Without the functions that need what headers from before graphs do not have."""
    name = "ZE_RECORD_REPLAY_GRAPH_EXT_NAME"
    return re.sub(rf"^#if defined\({name}\)$.*^#endif // {name}$", "", text, flags=re.M | re.S)


class HeaderSet:
    """What holds for any version of the headers."""

    @classmethod
    def setUpClass(cls):
        cls.model = dump_model(cls.include)
        cls.api_text = header_text(cls.include, "api")
        cls.ddi_text = header_text(cls.include, "ddi")

    def parameter(self, function, name):
        return next(p for p in self.model["functions"][function]["parameters"] if p["name"] == name)

    def field(self, record, name):
        return next(f for f in self.model["records"][record]["fields"] if f["name"] == name)

    def test_every_declared_function_is_in_the_model(self):
        declared = re.findall(r"^ZE_APIEXPORT .*\n(ze\w+)\(", self.api_text, re.M)
        self.assertGreater(len(declared), 290)
        self.assertEqual(sorted(declared), sorted(self.model["functions"]))

    def test_every_parameter_is_in_the_model_in_order(self):
        for name, text in re.findall(r"^ZE_APIEXPORT .*\n(ze\w+)\(\n(.*?)\n    \);", self.api_text,
                                     re.M | re.S):
            lines = [line.split("///<")[0].strip().rstrip(",") for line in text.splitlines()]
            declared = [re.search(r"(\w+)$", line)[1] for line in lines if line and line != "void"]
            names = [p["name"] for p in self.model["functions"][name]["parameters"]]
            self.assertEqual(declared, names, name)

    def test_every_dispatch_slot_holds_one_function_and_no_function_has_two(self):
        slots = re.findall(r"^\s+(ze\w*?)_pfn(\w+)_t\s+pfn\w+;", self.ddi_text, re.M)
        declared = sorted(api + rest for api, rest in slots)
        covered = sorted(f for t in self.model["tables"].values() for f in t["slots"])
        self.assertEqual(declared, covered)
        self.assertEqual(len(covered), len(set(covered)))
        in_tables = {n for n, f in self.model["functions"].items() if f["table"]}
        self.assertEqual(in_tables, set(covered))
        own = set(re.findall(r"^(ze\w+)\($", own_text(ZEX) + own_text(RECORDED), re.M))
        self.assertLessEqual(set(self.model["functions"]) - in_tables, own)

    def test_functions_that_our_driver_does_not_have_are_left_out_of_it(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, os.path.join(GENERATOR, "generate.py"), "--include", self.include,
                            "--zex", ZEX, "--recorded", RECORDED, "--output", folder], check=True)
            generated = {name: own_text(os.path.join(folder, name)) for name in os.listdir(folder)}
        for name in re.findall(r"^(zex\w+)\($", own_text(RECORDED), re.M):
            for file in ("driver_entry.hpp", "driver_exports.cpp", "driver_tables.cpp"):
                self.assertNotIn(f"{name}(", generated[file])
            self.assertIn(f"::{name})", generated["recorder_addresses.cpp"])
            self.assertIn(f"::{name})", generated["replay_calls.cpp"])

    def test_every_table_has_its_getter(self):
        declared = re.findall(r"^(ze\w+ProcAddrTable)\($", self.ddi_text, re.M)
        self.assertEqual(sorted(declared), sorted(t["getter"] for t in self.model["tables"].values()))

    def test_every_table_is_as_long_as_the_history_says_for_this_version(self):
        with open(os.path.join(GENERATOR, "table_history.json"), encoding="utf-8") as file:
            history = json.load(file)
        own = tuple(map(int, self.model["version"].split(".")))
        for name, table in self.model["tables"].items():
            sizes = sorted((tuple(map(int, v.split("."))), n) for v, n in history[name].items())
            self.assertEqual([n for v, n in sizes if v <= own][-1], len(table["slots"]), name)

    def test_every_struct_and_union_is_in_the_model(self):
        declared = re.findall(r"^typedef (?:struct|union) _(ze\w+)\n\{\n(.*?)^\}", self.api_text,
                              re.M | re.S)
        # Parameters of tracing callbacks are pointers to parameters; no function takes them.
        wanted = {name: body for name, body in declared
                  if not name.endswith("_params_t") or " stype;" in body}
        self.assertEqual(sorted(wanted), sorted(self.model["records"]))
        for name, body in wanted.items():
            fields = re.findall(r"(\w+)(?:\[\w+\])?;", re.sub(r"///.*", "", body))
            self.assertEqual(fields, [f["name"] for f in self.model["records"][name]["fields"]], name)

    def test_every_enum_and_enumerator_is_in_the_model(self):
        declared = re.findall(r"^typedef enum _(ze\w+)\n\{\n(.*?)^\}", self.api_text, re.M | re.S)
        self.assertEqual(sorted(n for n, _ in declared), sorted(self.model["enumerations"]))
        for name, body in declared:
            names = re.findall(r"^\s+(ZE\w+)", re.sub(r"///.*", "", body), re.M)
            wanted = {n for n in names if not n.endswith(("_FORCE_UINT32", "_CURRENT"))}
            found = {v[0] for v in self.model["enumerations"][name]["values"]}
            self.assertEqual(wanted, {n for n in found if not n.endswith("_CURRENT")}, name)

    def test_every_flags_type_knows_its_enumerators(self):
        for name in re.findall(r"^typedef uint32_t (ze\w+_flags_t);", self.api_text, re.M):
            enumeration = self.model["enumerations"].get(name.replace("_flags_t", "_flag_t"))
            self.assertIsNotNone(enumeration, name)
            self.assertTrue(enumeration["is_flags"], name)

    def test_every_pointer_has_a_known_extent(self):
        self.assertEqual([], self.model["unknown_extents"])

    def test_every_range_tag_became_a_length(self):
        overruled = {"address", "external"}
        for name, tag, parameter in self.tagged_ranges():
            extent = self.parameter(name, parameter)["extent"]
            if not any(word in extent for word in overruled):
                self.assertTrue(extent.startswith(f"elements({tag})"), f"{name}.{parameter}: {extent}")

    def tagged_ranges(self):
        for name, text in re.findall(r"^ZE_APIEXPORT .*\n(ze\w+)\(\n(.*?)\n    \);", self.api_text,
                                     re.M | re.S):
            for line in text.splitlines():
                if match := re.search(r"(\w+),?\s+///<.*\[range\(\d+,\s*`?(\*?\w+)`?\s*\)\]", line):
                    yield name, match[2], match[1]

    def test_wait_lists_have_the_length_of_numWaitEvents(self):
        lists = [(n, p) for n, f in self.model["functions"].items() for p in f["parameters"]
                 if p["name"] == "phWaitEvents"]
        self.assertGreater(len(lists), 15)
        for name, parameter in lists:
            self.assertEqual("elements(numWaitEvents)", parameter["extent"], name)
            self.assertEqual("in", parameter["direction"], name)

    def test_two_call_arrays_have_the_length_that_their_count_points_at(self):
        devices = self.parameter("zeDeviceGet", "phDevices")
        self.assertEqual(("elements(*pCount)", "out", True),
                         (devices["extent"], devices["direction"], devices["optional"]))
        count = self.parameter("zeDeviceGet", "pCount")
        self.assertEqual(("single", "inout"), (count["extent"], count["direction"]))

    def test_bytes_with_a_size_parameter(self):
        for function, parameter, extent in (
                ("zeKernelSetArgumentValue", "pArgValue", "elements(argSize)"),
                ("zeCommandListAppendMemoryFill", "pattern", "elements(pattern_size)"),
                ("zeModuleGetNativeBinary", "pModuleNativeBinary", "elements(*pSize)"),
                ("zetDebugWriteMemory", "buffer", "elements(size)")):
            self.assertEqual(extent, self.parameter(function, parameter)["extent"], function)
        self.assertEqual("elements(inputSize)",
                         self.field("ze_module_desc_t", "pInputModule")["extent"])

    def test_module_programs_hold_arrays_of_arrays(self):
        record = "ze_module_program_exp_desc_t"
        self.assertEqual("elements(count) of elements(inputSizes[])",
                         self.field(record, "pInputModules")["extent"])
        self.assertEqual("elements(count) of string", self.field(record, "pBuildFlags")["extent"])
        self.assertEqual("elements(count) of single", self.field(record, "pConstants")["extent"])

    def test_strings(self):
        self.assertEqual("string", self.field("ze_kernel_desc_t", "pKernelName")["extent"])
        self.assertEqual("string", self.field("ze_module_desc_t", "pBuildFlags")["extent"])
        self.assertEqual("elements(*pCount) of string",
                         self.parameter("zeModuleGetKernelNames", "pNames")["extent"])

    def test_device_memory_is_never_followed(self):
        for function, parameter in (("zeCommandListAppendMemoryCopy", "dstptr"),
                                    ("zeCommandListAppendMemoryCopy", "srcptr"),
                                    ("zeCommandListAppendWriteGlobalTimestamp", "dstptr"),
                                    ("zeCommandListAppendLaunchKernelIndirect",
                                     "pLaunchArgumentsBuffer"),
                                    ("zeMemFree", "ptr")):
            self.assertEqual("address", self.parameter(function, parameter)["extent"], function)

    def test_unions_and_structs_by_value(self):
        union = self.model["records"]["zet_value_t"]
        self.assertTrue(union["is_union"])
        self.assertEqual(8, union["size"])
        self.assertEqual({0}, {f["offset"] for f in union["fields"]})
        by_value = self.field("ze_device_properties_t", "uuid")
        self.assertEqual("record", self.model["types"][by_value["type"]]["kind"])
        handle = self.parameter("zeEventPoolOpenIpcHandle", "hIpc")
        self.assertEqual("record", self.model["types"][handle["type"]]["kind"])

    def test_fixed_arrays(self):
        name = self.field("ze_device_properties_t", "name")
        self.assertEqual(("char", 256), (name["type"], name["array"]))
        data = self.field("ze_ipc_event_pool_handle_t", "data")
        self.assertEqual(64, data["array"])

    def test_fields_do_not_overlap_and_fill_their_struct(self):
        for record in self.model["records"].values():
            end = 0
            for f in record["fields"]:
                size = self.model["types"][f["type"]]["size"] * max(f["array"], 1)
                if not record["is_union"]:
                    self.assertGreaterEqual(f["offset"], end, record["name"])
                end = f["offset"] + size
                self.assertLessEqual(end, record["size"], record["name"])

    def test_structs_are_found_by_stype(self):
        self.assertEqual([0x10], self.model["records"]["ze_event_pool_desc_t"]["stypes"])
        self.assertEqual([0x3, 0x20006], self.model["records"]["ze_device_properties_t"]["stypes"])
        self.assertEqual([0x3001c], self.model["records"]["zex_counter_based_event_desc_t"]["stypes"])
        for record in self.model["records"].values():
            if [f["name"] for f in record["fields"][:1]] == ["stype"] and "_base_" not in record["name"]:
                self.assertTrue(record["stypes"], record["name"])

    def test_creation_and_release_of_objects(self):
        self.assertEqual("created", self.parameter("zeEventCreate", "phEvent")["role"])
        self.assertEqual("released", self.parameter("zeEventDestroy", "hEvent")["role"])
        self.assertEqual("created", self.parameter("zeMemAllocHost", "pptr")["role"])
        self.assertEqual("released", self.parameter("zeMemFree", "ptr")["role"])
        self.assertEqual("returned", self.parameter("zeDeviceGet", "phDevices")["role"])
        self.assertEqual("released", self.parameter("zePhysicalMemDestroy", "hPhysicalMemory")["role"])
        self.assertEqual("used", self.parameter("zePhysicalMemDestroy", "hContext")["role"])

    def test_every_function_that_destroys_releases_exactly_one_object(self):
        for name, function in self.model["functions"].items():
            if "Destroy" in name:
                roles = [p["role"] for p in function["parameters"]]
                self.assertEqual(1, roles.count("released"), name)

    def test_short_names_of_enumerators(self):
        names = {v[0]: v[1] for v in self.model["enumerations"]["ze_event_pool_flag_t"]["values"]}
        self.assertEqual("HOST_VISIBLE", names["ZE_EVENT_POOL_FLAG_HOST_VISIBLE"])
        results = {v[1] for v in self.model["enumerations"]["ze_result_t"]["values"]}
        self.assertLessEqual({"SUCCESS", "NOT_READY", "ERROR_INVALID_NULL_HANDLE"}, results)

    def test_handles_are_one_class_under_all_their_names(self):
        types = self.model["types"]
        self.assertEqual("ze_device_handle_t", types["ze_device_handle_t"]["of"])
        self.assertEqual("ze_device_handle_t", types["zet_device_handle_t"]["of"])

    def test_versions_come_from_the_table_history(self):
        functions = self.model["functions"]
        self.assertEqual(0x10000, functions["zeEventCreate"]["version"])
        self.assertEqual(0x10001, functions["zeContextCreateEx"]["version"])
        self.assertEqual(0, functions["zexCounterBasedEventCreate2"]["version"])


class OldHeaders(HeaderSet, unittest.TestCase):
    include = OLD

    def test_is_the_old_version(self):
        self.assertEqual("1.4", self.model["version"])
        self.assertNotIn("zeInitDrivers", self.model["functions"])


class NewHeaders(HeaderSet, unittest.TestCase):
    include = NEW

    def test_function_pointer_parameters(self):
        callback = self.parameter("zeCommandListAppendHostFunction", "pfnHostFunction")
        self.assertEqual("function", self.model["types"][callback["type"]]["kind"])
        self.assertEqual("address", callback["extent"])

    def test_functions_that_return_no_result(self):
        self.assertEqual("uint32_t",
                         self.model["functions"]["zerTranslateDeviceHandleToIdentifier"]["result"])
        self.assertEqual("ze_context_handle_t",
                         self.model["functions"]["zerGetDefaultContext"]["result"])

    def test_a_field_may_take_its_length_from_the_call(self):
        record = "ze_event_query_kernel_timestamps_results_ext_properties_t"
        self.assertEqual("elements(call.*pCount)",
                         self.field(record, "pKernelTimestampsBuffer")["extent"])

    def test_kernel_arguments_are_known_to_the_kernel_only(self):
        parameter = self.parameter("zeCommandListAppendLaunchKernelWithArguments", "pArguments")
        self.assertEqual("external(kernel arguments)", parameter["extent"])

    def test_counter_based_events_came_with_their_version(self):
        self.assertEqual(0x1000f, self.model["functions"]["zeEventCounterBasedCreate"]["version"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
