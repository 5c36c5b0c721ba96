# cmake --toolchain cmake/cross.cmake -DLEGO_MACHINE=aarch64 | riscv64 | s390x: Debian's cross compiler for that machine,
# and qemu to run what it makes: the program that embeds models, and the tests.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LEGO_MACHINE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${LEGO_MACHINE})
set(CMAKE_C_COMPILER ${LEGO_MACHINE}-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${LEGO_MACHINE} -L /usr/${LEGO_MACHINE}-linux-gnu)
