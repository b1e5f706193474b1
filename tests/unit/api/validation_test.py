"""How documented conditions become checks.

validation_test.py GENERATOR_FOLDER ZEX_HEADER RECORDED_HEADER NEW_INCLUDE"""

import sys
import unittest

GENERATOR, ZEX, RECORDED, NEW = sys.argv[1:5]
sys.path.insert(0, GENERATOR)

from headers import read_headers  # noqa: E402
from validation import QUIRKS, checks_of, documented_conditions  # noqa: E402

HEADERS = read_headers(NEW, ZEX, RECORDED)


def checks(function):
    return [(c.result, c.condition) for c in checks_of(HEADERS.functions[function], HEADERS)]


class Validation(unittest.TestCase):
    def test_handles_and_pointers_come_first(self):
        self.assertEqual([
            ("ZE_RESULT_ERROR_INVALID_NULL_HANDLE", "hEventPool == nullptr"),
            ("ZE_RESULT_ERROR_INVALID_NULL_POINTER", "desc == nullptr"),
            ("ZE_RESULT_ERROR_INVALID_NULL_POINTER", "phEvent == nullptr"),
            ("ZE_RESULT_ERROR_INVALID_ENUMERATION",
             "(static_cast<uint32_t>(desc->signal) & ~uint32_t{0x7}) != 0"),
            ("ZE_RESULT_ERROR_INVALID_ENUMERATION",
             "(static_cast<uint32_t>(desc->wait) & ~uint32_t{0x7}) != 0"),
        ], checks("zeEventCreate"))

    def test_bound_of_an_enumeration_is_its_last_enumerator(self):
        self.assertIn(("ZE_RESULT_ERROR_INVALID_ENUMERATION", "static_cast<uint32_t>(desc->mode) > 0x2u"),
                      checks("zeCommandQueueCreate"))

    def test_descriptor_that_may_be_null_is_looked_into_only_when_it_is_not(self):
        self.assertIn(("ZE_RESULT_ERROR_INVALID_ENUMERATION",
                       "desc != nullptr && (static_cast<uint32_t>(desc->flags) & ~uint32_t{0x7f}) != 0"),
                      checks("zexCounterBasedEventCreate2"))

    def test_optional_parameters_may_be_null(self):
        for function in HEADERS.functions.values():
            optional = {p.name for p in function.parameters if "optional" in p.tags}
            for check in checks_of(function, HEADERS):
                self.assertNotIn(check.condition, {f"{name} == nullptr" for name in optional},
                                 function.name)

    def test_divisor_is_checked_before_it_divides(self):
        self.assertIn(("ZE_RESULT_ERROR_INVALID_SIZE",
                       "(pattern_size == 0 || size % pattern_size != 0)"),
                      checks("zeCommandListAppendMemoryFill"))

    def test_prose_is_no_check(self):
        self.assertIn(("ZE_RESULT_NOT_READY", "not signaled"),
                      documented_conditions(HEADERS.functions["zeEventQueryStatus"].documentation))
        self.assertEqual([("ZE_RESULT_ERROR_INVALID_NULL_HANDLE", "hEvent == nullptr")],
                         checks("zeEventQueryStatus"))

    def test_wait_list_is_checked_against_its_count(self):
        self.assertIn(("ZE_RESULT_ERROR_INVALID_SIZE",
                       "(( nullptr == phWaitEvents ) && ( 0 < numWaitEvents ))"),
                      checks("zeCommandListAppendBarrier"))

    def test_quirks_change_the_checks_that_they_are_about(self):
        def quirks(function):
            return {c.condition: c.quirk for c in checks_of(HEADERS.functions[function], HEADERS)}
        self.assertEqual({"hEvent == nullptr": "crash_on_null_handle"}, quirks("zeEventQueryStatus"))
        self.assertEqual({"hContext == nullptr": "crash_on_null_handle",
                          "ptr == nullptr": "free_of_null_result"},
                         quirks("zeMemFree"))
        pool = quirks("zeEventPoolCreate")
        self.assertEqual("accepts_pool_without_events", pool["(0 == desc->count)"])
        self.assertEqual("", pool["desc == nullptr"])

    def test_every_quirk_of_a_check_changes_one(self):
        changed = {c.quirk for f in HEADERS.functions.values() for c in checks_of(f, HEADERS)}
        self.assertEqual({quirk for quirk, *_ in QUIRKS}, changed - {""})

    def test_only_the_first_handle_crashes_and_not_where_it_is_looked_at(self):
        def crashing(function):
            return [c.condition for c in checks_of(HEADERS.functions[function], HEADERS)
                    if c.quirk == "crash_on_null_handle"]
        self.assertEqual(["hContext == nullptr"], crashing("zeMemAllocDevice"))
        self.assertEqual(["hCommandList == nullptr", "hEvent == nullptr"],
                         crashing("zeCommandListAppendSignalEvent"))
        for checked in ("zeEventGetCounterBasedFlags", "zeEventCounterBasedCreate", "zesDeviceGetProperties"):
            self.assertEqual([], crashing(checked), checked)

    def test_module_inputs_may_come_with_a_module_program(self):
        self.assertFalse([c for _, c in checks("zeModuleCreate") if "input" in c.lower()])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
