"""Which driver is recorded, and which one replays: chosen in one way, and said.

    which_driver_test.py CASE ZEVENT LIBRARIES PROGRAM LOADER

LIBRARIES is the folder of zevent's own libraries, LOADER the stock loader or a name that ends with -NOTFOUND. A
GPU is a file in a folder that stands for /dev; its driver is a copy of the software driver under the name of Intel's.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

case, zevent, libraries, program, loader = sys.argv[1:]
SOFTWARE = "libze_zevent.so.1"
GPU = "libze_intel_gpu.so.1"
NPU = "libze_intel_npu.so.1"
WITHOUT_LOADER = "(only one is recorded without the loader; choose with --driver)"


class Machine:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.drivers = self.folder / "drivers"
        self.drivers.mkdir()
        (self.folder / "dev").mkdir()
        unset = ("ZEVENT_DRIVER", "ZEVENT_RECORD", "ZE_ENABLE_ALT_DRIVERS")
        self.environment = {name: value for name, value in os.environ.items() if name not in unset}
        self.environment["ZEVENT_DEVICE_FOLDER"] = str(self.folder / "dev")
        before = os.environ.get("LD_LIBRARY_PATH")
        self.library_path = [str(self.drivers)] + ([before] if before else [])

    def add(self, device, library):
        path = self.folder / "dev" / device
        path.parent.mkdir(exist_ok=True)
        path.touch()
        shutil.copyfile(os.path.join(libraries, SOFTWARE), self.drivers / library)
        return str(self.drivers / library)

    def run(self, *command, variables={}, path=(), status=0):
        environment = self.environment | {"LD_LIBRARY_PATH": ":".join([*path, *self.library_path])} | variables
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        if done.returncode != status:
            sys.exit(f"{command}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
        return done

    def record(self, *options, **how):
        return self.run(zevent, "record", *options, "-o", "t.zev", "--", program, **how).stderr

    def record_by_environment(self, **variables):
        """Gives what the recorder says; the program reaches it by the loader's name."""
        shutil.rmtree(self.folder / "t.zev.parts", ignore_errors=True)
        variables |= {"ZEVENT_RECORD": str(self.folder / "t.zev")}
        return self.run(program, variables=variables, path=[os.path.join(libraries, "zevent", "record")]).stderr

    def recorded(self, trace="t.zev"):
        return json.loads(self.run(zevent, "summary", "--json", trace).stdout)["processes"][0]


def expect(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def expect_driver(process, driver):
    expect(process["driver"] == driver, f"{process['driver']} was recorded, expected {driver}")


def case_record(machine):
    """record takes the driver of a GPU, whatever the number of its node, and says so."""
    said = machine.record("--driver", "software")
    expect("recorded on" not in said, f"of the software driver record says: {said}")
    gpu = machine.add("dri/renderD129", GPU)
    said = machine.record()
    expect(f"zevent: recorded on {gpu}, version " in said and "zevent software device" in said, f"record says: {said}")
    expect_driver(machine.recorded(), gpu)
    expect(machine.record("-q") == "", "record -q says something")
    expect("recorded on" not in machine.record("--driver", "software"), "record --driver software was not on it")
    expect(machine.recorded()["driver"].endswith(SOFTWARE), "record --driver software is chosen again by the recorder")
    said = machine.record(variables={"ZEVENT_DRIVER": "software"})
    expect("recorded on" not in said, f"with ZEVENT_DRIVER=software record says: {said}")
    said = machine.run(zevent, "check", "--", program).stderr
    expect(f"zevent: check: recorded on {gpu}" in said, f"check says: {said}")
    said = machine.run(zevent, "profile", "--", program).stderr
    expect(f"zevent: profile: recorded on {gpu}" in said, f"profile says: {said}")


def case_environment(machine):
    """The recorder that is loaded by environment alone chooses as record does."""
    said = machine.record_by_environment()
    fallback = "zevent: recording on the software driver: no GPU driver found (ZEVENT_DRIVER names another)\n"
    expect(said == fallback, f"without a GPU the recorder says: {said}")
    expect(machine.recorded("t.zev.parts")["driver"].endswith(SOFTWARE), "the software driver is not the last resort")
    gpu = machine.add("dxg", GPU)
    expect(machine.record_by_environment() == "", "the recorder speaks although there is nothing to say")
    expect_driver(machine.recorded("t.zev.parts"), gpu)
    machine.record_by_environment(ZEVENT_DRIVER="software")
    expect(machine.recorded("t.zev.parts")["driver"].endswith(SOFTWARE), "ZEVENT_DRIVER=software is not followed")
    if not loader.endswith("-NOTFOUND"):
        shutil.rmtree(machine.folder / "t.zev.parts")
        recorder = os.path.join(libraries, "libzevent_recorder.so.1")
        variables = {"ZE_ENABLE_ALT_DRIVERS": recorder, "ZEVENT_RECORD": str(machine.folder / "t.zev")}
        machine.run(program, variables=variables, path=[os.path.dirname(loader)])
        expect_driver(machine.recorded("t.zev.parts"), gpu)


def case_several(machine):
    """Of several drivers the first is recorded without the loader, and the others are named."""
    gpu = machine.add("dri/renderD128", GPU)
    npu = machine.add("accel/accel0", NPU)
    left_out = f"zevent: recording {gpu}; left out: {npu} "
    direct = ("-q", "--way", "direct")
    said = machine.record(*direct)
    expect(said == f"{left_out}{WITHOUT_LOADER}\n", f"record says of what is installed: {said}")
    said = machine.record(*direct, variables={"ZE_ENABLE_ALT_DRIVERS": f"{gpu},{npu}"})
    expect(said == f"{left_out}{WITHOUT_LOADER}\n", f"record says of two alternative drivers: {said}")
    expect(machine.record("-q", "--driver", npu) == "", "record says something where a driver was chosen")
    expect_driver(machine.recorded(), npu)
    said = machine.record_by_environment()
    expect(said == f"{left_out}(choose with ZEVENT_DRIVER)\n", f"the recorder says: {said}")
    expect_driver(machine.recorded("t.zev.parts"), gpu)
    said = machine.run(zevent, "doctor").stdout
    for each in (gpu, npu):
        expect(re.search(f"ok +recorded driver +{each}", said), f"doctor does not name {each}: {said}")


def case_several_by_loader(machine):
    """By way of the loader all of several drivers are recorded, and replayed."""
    gpu = machine.add("dri/renderD128", GPU)
    npu = machine.add("accel/accel0", NPU)
    both = {gpu, npu}

    def drivers(trace="t.zev"):
        found = json.loads(machine.run(zevent, "summary", "--json", trace).stdout)["processes"]
        return sorted(each["driver"] for each in found)

    def expect_both(how, trace="t.zev"):
        expect(drivers(trace) == sorted(both), f"{how}: {drivers(trace)} were recorded")

    said = machine.record()
    expect_both("record")
    for each in both:
        expect(f"zevent: recorded on {each}, version " in said, f"record does not name {each}: {said}")
    expect("left out" not in said, f"a driver is left out: {said}")
    said = machine.run(zevent, "replay", "--compare", "results", "t.zev").stderr
    for each in both:
        expect(f"replaying on {each}" in said, f"replay does not run on {each}: {said}")
    machine.run(zevent, "check", "t.zev")

    machine.record("-q", "--driver", f"{npu},{gpu}")
    expect_both("record --driver A,B")
    recorders = ",".join(
        os.path.join(libraries, each)
        for each in ("libzevent_recorder.so.1", "zevent/record/libzevent_recorder_2.so.1")
    )
    variables = {"ZE_ENABLE_ALT_DRIVERS": recorders, "ZEVENT_RECORD": str(machine.folder / "e.zev")}
    said = machine.run(program, variables=variables, path=[os.path.dirname(loader)]).stderr
    expect(said == "", f"the recorders say: {said}")
    expect_both("by environment", "e.zev.parts")

    # They are of one program, which did not become another one, and ended once.
    machine.record("-q")
    found = json.loads(machine.run(zevent, "summary", "--json", "t.zev").stdout)["processes"]
    expect(len({each["process_id"] for each in found}) == 1, f"not one process: {found}")
    expect([each.get("exit_status") for each in found] == [0, 0], f"the end is not known of both: {found}")


def case_replay(machine):
    """A replay and a verification run on the driver of the recording, or say on which other one."""
    verify = [zevent, "repro", "--verify", "--symptom", "none", "-o", "repro", "t.zev"]
    machine.record("-q")
    expect(machine.run(zevent, "replay", "t.zev").stderr == "", "a replay on the software driver says something")
    gpu = machine.add("dri/renderD128", GPU)
    machine.record("-q")
    on_it = f"on {gpu}: zevent software device\n"
    said = machine.run(zevent, "replay", "t.zev").stderr
    expect(said == f"zevent: replay: replaying {on_it}", f"replay says: {said}")
    said = machine.run(*verify).stderr
    expect(said == f"zevent: repro: verifying {on_it}", f"repro says: {said}")
    on_software = f"on the software driver; recorded on {gpu}"
    said = machine.run(zevent, "replay", "--driver", "software", "t.zev").stderr
    expect(said == f"zevent: replay: replaying {on_software}\n", f"replay --driver software says: {said}")

    pathlib.Path(gpu).write_text("no library")
    said = machine.run(zevent, "replay", "t.zev").stderr
    expect(f"replaying {on_software}, which cannot be used here: " in said, f"replay of a broken driver says: {said}")
    os.remove(gpu)
    said = machine.run(zevent, "replay", "t.zev").stderr
    expect(said == f"zevent: replay: replaying {on_software}, which is not here\n", f"replay says: {said}")
    shutil.rmtree(machine.folder / "repro")
    said = machine.run(*verify).stderr
    expect(said == f"zevent: repro: verifying {on_software}, which is not here\n", f"repro says: {said}")


def case_description(machine):
    """Versions and devices are in the trace although the program did not ask for them."""
    machine.record("-q", "--driver", "software", variables={"ZEVENT_DEVICES": "2"})
    process = machine.recorded()
    expect(process.get("driver_version", "").isdigit(), f"there is no version of the driver: {process}")
    expect([each.split(" (")[0] for each in process["devices"]] == ["zevent software device"] * 2, f"{process}")
    calls = machine.run(zevent, "show", "t.zev").stdout
    for function in ("zeDriverGetProperties", "zeDriverGetApiVersion", "zeDeviceGetProperties"):
        expect(function not in calls, f"the recorder's own {function} is in the trace")
    text = machine.run(zevent, "summary", "t.zev").stdout
    expect(f"   on {process['driver']}, version {process['driver_version']}, API 1." in text, f"summary says: {text}")


with tempfile.TemporaryDirectory() as temporary:
    globals()[f"case_{case}"](Machine(temporary))
