#!/usr/bin/env bash
# run.sh BUILD: the extension's regression tests, and those in Python, on a server of its own (server.sh). The Python is
# that of bindings/environment.sh. 77: skipped.
set -eu
tests=$(cd "$(dirname "$0")" && pwd)
python=$(cd "$1" && pwd)/engines/environment/bin/python
if ! "$python" -c 'import legosketch, psycopg, pytest, xxhash' 2>/dev/null; then
    echo 'skipped: there is no Python for this test; bindings/environment.sh makes it'
    exit 77
fi
exec "$tests/server.sh" "$1" "$tests/all.sh" "$python"
