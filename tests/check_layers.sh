#!/usr/bin/env bash
# check_layers.sh BUILD: dependencies point one way, headers stand alone, and the library neither speaks nor remembers.
#
# The rooms of src, on libc, xxHash and (for large pages) madvise(), and on each other:
#   core  on nothing   block  on core   model  on core   paper  on core, model   top  on core
#   sketch  on core, block, model, paper, top   file  on all of these   cuda  on all of these and CUDA
# The other folders:
#   lab  on legosketch.h, legosketch_lab.h and xxHash   train  on src, CUDA and xxHash
#   cli  on legosketch.h, lab, train, cJSON, zlib, liblzma, libzstd, libbz2   bench  on legosketch.h, cli, lab, train, xxHash
#   bindings/python  on legosketch.h and Python   bindings/redis  on legosketch.h and redismodule.h
#   bindings/postgres  on legosketch.h and PostgreSQL
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
status=0

report() { # title, offending lines
    [ -z "$2" ] || { echo "$1:"; echo "$2"; status=1; }
}

# Every #include of the folders named, and those below them, as `file: "name"` or `file: <name>`.
includes() {
    find "$@" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort |
        xargs -r awk '/^ *# *include/ { sub(/^ *# *include */, ""); print FILENAME ": " $1 }'
}

# Those of our own headers that a folder includes, and that are neither public nor in a folder named after it.
foreign() {
    local from=$1 file name folder found
    includes "$from" | sed -n 's/"//gp' | while IFS=': ' read -r file name; do
        found=
        for folder in include "$@"; do # as "name.h" or as "folder/name.h"
            [ -e "$folder/${name#"$folder/"}" ] && [[ ${name#"$folder/"} != */* ]] && found=1
        done
        [ -n "$found" ] || echo "$file: $name"
    done
}

# Those that a room of src includes, and that are of another room than those named after it. In src a header is always
# "room/name.h", but for the public ones.
foreign_rooms() {
    local room=$1 allowed=legosketch.h other
    for other in "$@"; do allowed+="|$other/[a-z0-9_]+\.cuh|$other/[a-z0-9_]+\.h"; done
    includes "src/$room" | grep '"' | grep -vE ": \"($allowed|legosketch_(lab|cuda)\.h)\"$" || true
}

libc='assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic'
libc+='|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|tgmath|threads|time|wchar|wctype'
posix='dirent|fcntl|getopt|poll|pthread|sched|unistd|termios|glob|sys/[a-z]*'
vectors='[a-z]*intrin|cpuid|arm_neon' # run-time dispatch lives in src/block
cuda='new|cmath|cstdio|cstdlib|cstring|vector|algorithm|cuda[a-z_]*|cub/[a-z_/]*|cooperative_groups|mma'

system() { includes "$1" | grep '<' | grep -vE "<($2)(\.h|\.cuh)?>" || true; }
rooms='core block model paper top sketch file cuda'
report 'src has other rooms than check_layers.sh knows' "$(ls -d src/*/ | sed 's|src/\(.*\)/|\1|' | grep -vxF "${rooms// /$'\n'}" || true)"
report 'src/core includes another room' "$(foreign_rooms core)"
report 'src/block includes more than core' "$(foreign_rooms block core)"
report 'src/model includes more than core' "$(foreign_rooms model core)"
report 'src/paper includes more than core and model' "$(foreign_rooms paper core model)"
report 'src/top includes more than core' "$(foreign_rooms top core)"
report 'src/sketch includes what it may not' "$(foreign_rooms sketch core block model paper top)"
report 'src/file includes what it may not' "$(foreign_rooms file core block model paper top sketch)"
report 'src/cuda includes what it may not' "$(foreign_rooms cuda core block model paper top sketch file)"
for room in core block model paper top sketch file; do
    report "src/$room includes more than libc and xxHash" "$(system "src/$room" "$libc|pthread|sched|sys/mman|xxhash|$vectors")"
done
report 'src/cuda includes more than libc, xxHash and CUDA' "$(system src/cuda "$libc|pthread|xxhash|$cuda")"
report 'lab includes more than legosketch.h and xxHash' "$(foreign lab; system lab "$libc|$posix|xxhash")"
report 'train includes more than src, CUDA and xxHash' "$(foreign train $(find train src -type d) src |
    grep -vE ": ($(tr ' ' '|' <<<"$rooms"))/[a-z0-9_]+\.h$" || true; system train "$libc|$posix|xxhash|$vectors|$cuda")"
report 'cli includes more than legosketch.h, lab, train, cJSON, zlib, liblzma, libzstd and libbz2' \
    "$(foreign cli lab train; system cli "$libc|$posix|cjson/cJSON|zlib|lzma|zstd|zstd_errors|bzlib")"
report 'bench includes more than legosketch.h, cli, lab, train and xxHash' \
    "$(foreign bench cli lab train; system bench "$libc|$posix|xxhash|$vectors|$cuda")"
report 'bindings/python includes more than legosketch.h and Python' \
    "$(foreign bindings/python/src; system bindings/python/src "$libc|$posix|Python|structmember")"
report 'bindings/redis includes more than legosketch.h and redismodule.h' \
    "$(foreign bindings/redis/src; system bindings/redis/src "$libc|$posix|legosketch|redismodule")"
# PostgreSQL's headers are found by name only where it is installed.
report 'bindings/postgres includes more than legosketch.h and PostgreSQL' "$(foreign bindings/postgres/src |
    grep -vE ': (postgres|fmgr|funcapi|miscadmin|varatt|(access|catalog|commands|common|lib|libpq|mb|nodes|utils)/[a-z_]+)\.h$' || true
    system bindings/postgres/src "$libc")"

# Every header says itself what it needs.
alone() {
    local header
    for header in include/*.h $(find src -name '*.h'); do # CUDA need not be there
        "${CC:-gcc}" -std=c17 -Iinclude -Isrc -Itests/cuda_on_host -fsyntax-only -include "$header" -x c /dev/null >/dev/null 2>&1 || echo "$header"
    done
}
report 'headers that do not compile alone' "$(alone)"

# Read first, where a failure ends the script; inside a pipe or an argument it would look like nothing found.
undefined=$(nm -u "$build/liblegosketch.a")
symbols=$(objdump -t "$build/liblegosketch.a")
[ -n "$undefined" ] || { echo "$build/liblegosketch.a is empty: not even malloc is asked for" >&2; exit 1; }

# The archive is one object, so what it leaves undefined is all that the library asks of the outside. __assert_fail is
# not in a release build; snprintf writes into memory only.
report 'the library prints or ends the process' "$(awk '{ print $2 }' <<<"$undefined" |
    grep -E '^(_*v?[fd]?printf(_chk)?|puts|fputs|putchar|putc|fputc|fwrite|write|perror|std(in|out|err)|_?exit|_Exit|quick_exit|abort|raise|__assert_fail)$' || true)"

# Global state: anything of a size in .data, .bss or thread-local storage. (.data.rel.ro is const, with addresses in it.)
report 'the library has writable globals' "$(awk -F '\t' '
    NF == 2 { n = split($1, left, " "); split($2, right, " "); section = left[n]
        if (section ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && section !~ /^\.data\.rel\.ro/ && right[1] !~ /^0*$/)
            print section, right[2] }' <<<"$symbols")"

[ $status = 0 ] &&
    echo 'layers point one way, headers stand alone; the library prints nothing, never exits and has no global state'
exit $status
