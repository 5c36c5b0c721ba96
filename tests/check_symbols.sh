#!/usr/bin/env bash
# check_symbols.sh BUILD: the shared library exports the functions of legosketch.h; the archive defines these and those of
# legosketch_lab.h; and there is no other name that a user could meet.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
status=0

# Prints what only one of two sorted lists has, and remembers that there was something.
same() { # title, list, list
    local difference
    difference=$(diff <(echo "$2") <(echo "$3") | grep '^[<>]') || return 0
    echo "$1:"
    echo "$difference"
    status=1
}

# From `LEGO_API type *lego_name(` take lego_name.
functions() { sed -n 's/^LEGO_API [^(]*[ *]\(lego_[a-z0-9_]*\)(.*/\1/p' "$@" | sort; }
declared=$(functions include/legosketch.h)
lab=$(functions include/legosketch_lab.h)
[ -n "$declared" ] && [ -n "$lab" ] || { echo 'no LEGO_API function found in include'; exit 1; }

# Type A is the name of the version itself (cmake/legosketch.map).
exported() { nm -D --defined-only "$1" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort; }
shared=$(exported "$build/liblegosketch.so")
static=$(nm -g --defined-only "$build/liblegosketch.a" | awk 'NF == 3 { print $3 }' | sort)
same 'legosketch.h (<) against liblegosketch.so (>)' "$declared" "$shared"
same 'legosketch.h and legosketch_lab.h (<) against liblegosketch.a (>)' "$(sort <<<"$declared"$'\n'"$lab")" "$static"

if [ -e "$build/liblegosketch_cuda.so" ]; then # the same and sketches on a GPU
    cuda=$(functions include/legosketch_cuda.h)
    same 'legosketch.h and legosketch_cuda.h (<) against liblegosketch_cuda.so (>)' \
        "$(sort <<<"$declared"$'\n'"$cuda")" "$(exported "$build/liblegosketch_cuda.so")"
fi

# Whoever links the library links nothing else.
needed=$(readelf -d "$build/liblegosketch.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|ld-linux.*)\.so' || true)
[ -z "$needed" ] || { echo "liblegosketch.so needs more than libc:" $needed; status=1; }

soname=$(readelf -d "$build/liblegosketch.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
abi=$(sed -n 's/#define LEGO_VERSION "\([0-9]*\.[0-9]*\)\..*/\1/p' include/legosketch.h)
[ "$soname" = "liblegosketch.so.$abi" ] || { echo "SONAME is $soname"; status=1; }
versions=$(nm -D --with-symbol-versions --defined-only "$build/liblegosketch.so" | sed -n 's/.* lego_[^@]*@*//p' | sort -u)
[ "$versions" = "LEGOSKETCH_$abi" ] || { echo "symbols have the version $versions"; status=1; }

[ $status = 0 ] && echo "$(wc -l <<<"$declared") functions declared, exported by the shared library, and nothing else"
exit $status
