# cmake -DSPIRV=file.spv -DNAME=array -DHEADER=file.h -P embed_spirv.cmake
file(READ ${SPIRV} digits HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${digits}")
get_filename_component(origin ${SPIRV} NAME)
file(WRITE ${HEADER} "/* ${origin} */\n#include <stdint.h>\nstatic const uint32_t ${NAME}[] = {\n${words}};\n")
