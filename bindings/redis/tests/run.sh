#!/usr/bin/env bash
# run.sh BUILD WHAT...: BUILD/legosketch.so in servers of its own, in the Python of ../../environment.sh; WHAT is for
# pytest, or `hostile.py COMMANDS`. Of a build with sanitizers in a folder of another, it is that one's Python. 77:
# skipped.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if ! command -v redis-server >/dev/null; then
    echo 'skipped: there is no redis-server; scripts/setup redis installs it'
    exit 77
fi
cd "$here" # where no other legosketch can be imported by mistake
python=$build/engines/environment/bin/python
[ -e "$python" ] || python=$build/../engines/environment/bin/python
if ! "$python" -c 'import legosketch, pytest, redis, xxhash' 2>/dev/null; then
    echo 'skipped: there is no Python for this test; bindings/environment.sh makes it'
    exit 77
fi
shown=$(nm -D --defined-only "$build/legosketch.so" | awk '{ print $3 }')
[ "$shown" = RedisModule_OnLoad ] || { echo "legosketch.so shows more than its start: $shown"; exit 1; }
export LEGOSKETCH_MODULE=$build/legosketch.so LEGOSKETCH=$build/legosketch
if nm -D "$build/legosketch.so" | grep -q __asan_init; then
    SERVER_PRELOAD=$(ldd "$build/legosketch.so" | awk '/libasan/ { print $3 }')
    export SERVER_PRELOAD ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
fi
[ "$2" != hostile.py ] || exec "$python" -B "${@:2}"
exec "$python" -B -m pytest -q -p no:cacheprovider -ra --rootdir=. "${@:2}"
