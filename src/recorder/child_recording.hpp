#pragma once

namespace zevent::recorder {

class process_recording;

// The listener is called when the recording of a forked child starts: what its parent had counted,
// the child counts itself from then on. There is one.
void listen_to_child_recordings(void (*listener)(process_recording&));

}  // namespace zevent::recorder
