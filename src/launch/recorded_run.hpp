#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/installation.hpp"
#include "launch/program.hpp"
#include "launch/signal_relay.hpp"
#include "launch/way_in.hpp"

namespace zevent::launch {

// How `zevent record` and `zevent profile` put the recorder in front of a driver, and know when a
// run is over.

struct recording_options {
  std::string output;           // the trace; the processes record beside it, into output.parts
  std::string memory = "full";  // off, copies, full or results
  std::string max_size;         // how large it may become; "" for what the environment says
  // The drivers to record, all of them by way of the loader; none for the software driver.
  std::vector<std::string> drivers;
  bool profile = false;  // whether commands are timed on the device
  std::string kernels;   // which kernels alone are timed; "" for everything
};

std::string parts_folder_of(const std::string& output);

// The drivers that the user asked for: libraries separated by commas, "software", or "" for those
// that a program would get here without zevent (base/driver_choice.hpp). None for the software
// driver.
std::vector<std::string> find_drivers_as_asked(const std::string& asked);

// Keeps those that can be recorded by this way; the others are named on stderr.
void leave_out_drivers(way_in way, recording_options& options);

// Makes the folder for the parts. It must not be there yet: what is in it would be somebody's
// recording that was never packed.
result<void> prepare_parts_folder(const std::string& output);

// What is done where a program cannot be recorded: it is not started, or it runs all the same.
enum class unrecordable { refuse, run };

// Before the program is started: finds out whether the driver can be loaded, and makes the folder
// for the parts. With unrecordable::run, says on stderr that nothing is recorded where there can be
// no folder, and there is no output then; only an older recording in its place is an error.
result<void> prepare_recording(recording_options& options, unrecordable otherwise);

// Whether no process of a run that has ended recorded anything: the folder is removed then.
bool remove_if_unused(const std::string& parts_folder);

// Where a run leaves no trace: one of an earlier run under its name would be taken for its own.
void remove_older_trace(const std::string& output);

// What has to be set in a program's environment so that it is recorded.
environment_changes environment_for_recording(way_in way, const installation& files,
                                              const recording_options& options,
                                              const std::optional<std::string>& library_path);

// Processes of this host that are still recording into the folder.
std::vector<int> processes_still_recording(const std::string& parts_folder);

// Runs the program under the recorder and waits for what it leaves behind; without an output it is
// not recorded. After a second says on stderr what it waits for; a request to end (signal_relay)
// ends that. An error when the program cannot be started: then there is no folder any more.
result<program_end> run_recorded(const std::vector<std::string>& command, way_in way,
                                 const installation& files, const recording_options& options,
                                 signal_relay& relay);

}  // namespace zevent::launch
