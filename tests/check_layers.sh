#!/usr/bin/env bash
# check_layers.sh BUILD: dependencies point one way, and the library neither speaks nor remembers.
#   src  on libc, xxHash and (for large pages) madvise()   lab  on legosketch.h and xxHash   train  on src and xxHash
#   cli  on legosketch.h, lab, train, cJSON, zlib, liblzma, libzstd   bench  on legosketch.h, cli, lab, train, xxHash
#   bindings/python  on legosketch.h and Python   bindings/redis  on legosketch.h and redismodule.h
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
status=0

report() { # title, offending lines
    [ -z "$2" ] || { echo "$1:"; echo "$2"; status=1; }
}

# Every #include of a folder as `file: "name"` or `file: <name>`.
includes() {
    shopt -s nullglob
    local files=("$1"/*.[ch])
    [ ${#files[@]} = 0 ] || awk '/^ *# *include/ { sub(/^ *# *include */, ""); print FILENAME ": " $1 }' "${files[@]}"
}

# Those of our own headers that are neither legosketch.h nor in one of the folders named after the first.
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

libc='assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg|stdatomic'
libc+='|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|tgmath|threads|time|wchar|wctype'
posix='dirent|fcntl|getopt|poll|pthread|sched|unistd|termios|glob|sys/[a-z]*'
vectors='[a-z]*intrin|cpuid|arm_neon' # run-time dispatch lives in src/kernels*

system() { includes "$1" | grep '<' | grep -vE "<($2)\.h>" || true; }
report 'src includes more than libc and xxHash' "$(foreign src; system src "$libc|pthread|sys/mman|xxhash|$vectors")"
report 'lab includes more than legosketch.h and xxHash' "$(foreign lab; system lab "$libc|$posix|xxhash")"
report 'train includes more than src and xxHash' "$(foreign train src; system train "$libc|$posix|xxhash")"
report 'cli includes more than legosketch.h, lab, train, cJSON, zlib, liblzma and libzstd' \
    "$(foreign cli lab train; system cli "$libc|$posix|cjson/cJSON|zlib|lzma|zstd|zstd_errors")"
report 'bench includes more than legosketch.h, cli, lab, train and xxHash' \
    "$(foreign bench cli lab train; system bench "$libc|$posix|xxhash")"
report 'bindings/python includes more than legosketch.h and Python' \
    "$(foreign bindings/python/src; system bindings/python/src "$libc|$posix|Python")"
report 'bindings/redis includes more than legosketch.h and redismodule.h' \
    "$(foreign bindings/redis/src; system bindings/redis/src "$libc|$posix|legosketch|redismodule")"

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

[ $status = 0 ] && echo 'layers point one way; the library prints nothing, never exits and has no global state'
exit $status
