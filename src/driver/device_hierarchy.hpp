#pragma once

namespace zevent::driver {

// Which devices a program gets from zeDeviceGet where devices have sub-devices, as
// ZE_FLAT_DEVICE_HIERARCHY says.
//
//              zeDeviceGet     root of those   sub-device flag   ZE_AFFINITY_MASK counts
//   composite  roots           -               -                 roots, and parts after a dot
//   flat       parts           none            not set           parts of all roots
//   combined   parts           their root      set               parts of all roots
//
// A device without parts stands for itself everywhere.
enum class device_hierarchy { composite, flat, combined };

// What the environment says; composite when it says nothing that is known.
device_hierarchy hierarchy_of_environment();

}  // namespace zevent::driver
