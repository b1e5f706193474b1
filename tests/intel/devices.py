"""The simulated devices, as environments of Intel's driver.

The driver reads its debug keys from the environment. These make it simulate a device without a GPU:
every host-side path is the real one, nothing executes, and host waits succeed at once.
"""

DRIVER = "/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1"

SIMULATED = {
    "NEOReadDebugKeys": "1",
    "SetCommandStreamReceiver": "1",
    "UseAubStream": "0",
    "HardwareInfoOverride": "1x4x8",
    "UseBindlessMode": "0",
}
TWO_OF_TWO_TILES = {"CreateMultipleRootDevices": "2", "CreateMultipleSubDevices": "2"}


def two_pvc(hierarchy):
    return {"ProductFamilyOverride": "pvc", **TWO_OF_TWO_TILES, "ZE_FLAT_DEVICE_HIERARCHY": hierarchy}


DEVICES = {
    "bmg": {"ProductFamilyOverride": "bmg"},
    "pvc-flat": two_pvc("FLAT"),
    "pvc-composite": two_pvc("COMPOSITE"),
    "pvc-combined": two_pvc("COMBINED"),
    "dg2": {"ProductFamilyOverride": "dg2"},
}


# As many devices and tiles of the software driver.
ON_SOFTWARE = {device: {"ZEVENT_DEVICES": "2", "ZEVENT_SUBDEVICES": "2"} if device.startswith("pvc") else {}
               for device in DEVICES}


def environment_of(device):
    return {**SIMULATED, **DEVICES[device]}
