"""Headers that are newer than any that exist: what is generated from them compiles and runs, and tells
what is not understood.

newer_headers_test.py GENERATOR_FOLDER SOURCE_FOLDER INCLUDE COMPILER"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import newer_headers

GENERATOR, SOURCE, INCLUDE, COMPILER = sys.argv[1:5]


class NewerHeaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.include = os.path.join(cls.folder.name, "include")
        cls.output = os.path.join(cls.folder.name, "generated")
        newer_headers.make(INCLUDE, cls.include)
        cls.said = cls.generate("--output", cls.output).stderr
        cls.model = json.loads(cls.generate("--dump-json").stdout)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def generate(cls, *arguments):
        return subprocess.run(
            [sys.executable, os.path.join(GENERATOR, "generate.py"), "--include", cls.include, "--zex",
             os.path.join(SOURCE, "src/api/zex_api.h"), "--recorded",
             os.path.join(SOURCE, "src/api/zex_recorded_api.h"), *arguments],
            check=True, capture_output=True, text=True)

    def test_all_that_is_generated_compiles(self):
        for path in sorted(glob.glob(os.path.join(self.output, "*.cpp"))):
            done = subprocess.run(
                [COMPILER, "-std=c++20", "-fsyntax-only", "-w", "-I", os.path.join(SOURCE, "src"), "-I",
                 self.output, "-I", os.path.join(SOURCE, "tests/unit/recorder"), "-isystem",
                 self.include, path], capture_output=True, text=True)
            self.assertEqual(0, done.returncode, f"{os.path.basename(path)}: {done.stderr[:2000]}")

    def test_calls_are_encoded_decoded_and_printed_by_a_program_built_with_them(self):
        # The API part as a whole, with its own tests of any header's functions.
        parts = [f"{part}/{name}" for part in ("api", "base")
                 for name in sorted(os.listdir(os.path.join(SOURCE, "src", part))) if name.endswith(".cpp")]
        unit = os.path.join(self.folder.name, "unit.cpp")
        with open(unit, "w", encoding="utf-8") as file:
            file.writelines(f'#include "{each}"\n' for each in parts)
        tests = [os.path.join(SOURCE, "tests/unit/api", name)
                 for name in ("call_codec_test.cpp", "call_codec_fuzzer.cpp", "print_test.cpp")]
        program = os.path.join(self.folder.name, "api_tests")
        built = subprocess.run(
            [COMPILER, "-std=c++20", "-w", "-O0", "-DFMT_SHARED", "-I", os.path.join(SOURCE, "src"), "-isystem",
             self.include, unit, os.path.join(self.output, "model.cpp"), *tests, "-o", program, "-lgtest",
             "-lgtest_main", "-lfmt", "-lpthread"], capture_output=True, text=True)
        self.assertEqual(0, built.returncode, built.stderr[:2000])
        ran = subprocess.run([program], capture_output=True, text=True)
        self.assertEqual(0, ran.returncode, ran.stdout[-2000:] + ran.stderr[-2000:])
        self.assertIn("[  PASSED  ]", ran.stdout)

    def test_new_functions_are_recorded(self):
        for name in ("zeEventFuture", "zeEventCreateFuture", "zeCommandListAppendFuture"):
            self.assertIn(name, self.model["functions"])
            self.assertTrue(self.model["functions"][name]["is_newer"], name)
        self.assertFalse(self.model["functions"]["zeEventCreate"]["is_newer"])

    def test_functions_that_cannot_be_recorded_are_left_out_and_named(self):
        for name in ("zeEventFutureWithoutResult", "zeEventFutureByValue", "zeEventFutureText",
                     "zeFutureLog"):
            self.assertNotIn(name, self.model["functions"])
            self.assertIn(name, self.said)

    def test_pointers_of_unknown_length_are_addresses_and_named(self):
        fields = {f["name"]: f for f in self.model["records"]["ze_future_desc_t"]["fields"]}
        for name in ("pBlob", "pParts", "pNumbers", "pSigned"):
            self.assertEqual("address", fields[name]["extent"], name)
            self.assertIn(f"ze_future_desc_t.{name}", self.said)

    def test_fields_of_unknown_type_are_bytes_and_those_behind_are_in_their_place(self):
        fields = {f["name"]: f for f in self.model["records"]["ze_future_desc_t"]["fields"]}
        self.assertEqual(("uint8_t", 48), (fields["matrix"]["type"], fields["matrix"]["array"]))
        self.assertEqual(("uint8_t", 16), (fields["wide"]["type"], fields["wide"]["array"]))
        self.assertEqual(fields["choice"]["offset"] + 8, fields["last"]["offset"])

    def test_a_new_stype_names_its_struct(self):
        self.assertEqual([0x2f001], self.model["records"]["ze_future_desc_t"]["stypes"])

    def test_no_check_is_made_of_what_the_documentation_says_wrongly(self):
        with open(os.path.join(self.output, "driver_exports.cpp"), encoding="utf-8") as file:
            text = file.read()
        body = text[text.index("ze_result_t zeEventQueryStatus("):]
        self.assertNotIn("INVALID_ENUMERATION", body[:body.index("\n}\n")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
