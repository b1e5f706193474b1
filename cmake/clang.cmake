# The second compiler: the one that scripts/packages.txt names first for this system.
find_program(ZEVENT_CLANG NAMES clang-14 clang-19 clang-18 REQUIRED)
string(REGEX REPLACE "clang(-[0-9]+)$" "clang++\\1" ZEVENT_CLANGXX "${ZEVENT_CLANG}")
set(CMAKE_C_COMPILER ${ZEVENT_CLANG})
set(CMAKE_CXX_COMPILER ${ZEVENT_CLANGXX})
