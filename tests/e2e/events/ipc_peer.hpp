#pragma once

// What a test and its peer process say to each other over their socket: handles as the library
// sends them, and single letters.

namespace zevent::peer {

inline constexpr char opened = 'o';
inline constexpr char open_refused = 'x';
inline constexpr char signalled = 's';
inline constexpr char not_yet = 'n';
inline constexpr char timed_out = 't';
inline constexpr char lost = 'l';
inline constexpr char refused = 'r';
inline constexpr char done = 'd';
inline constexpr char go_on = 'g';

// The number of the peer's end of the socket, and of memory that both share.
inline constexpr int socket_descriptor = 3;
inline constexpr int memory_descriptor = 4;

}  // namespace zevent::peer
