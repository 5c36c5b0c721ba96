#!/usr/bin/env bash
# golden.sh BUILD: the same streams in C, Python, Redis and PostgreSQL give the same bytes, those of golden.py; and the
# examples of docs/redis.md and docs/postgres.md are true (documents.py), and values are the same items in PostgreSQL
# and Python (items.py). 77: skipped.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
python=$build/engines/environment/bin/python
if ! command -v redis-server >/dev/null || [ ! -e "$build/legosketch.so" ]; then
    echo 'skipped: there is no Redis or no module for it; scripts/setup redis installs what it takes'
    exit 77
fi
if ! "$python" -c 'import legosketch, psycopg, redis' 2>/dev/null; then
    echo 'skipped: there is no Python for this test; bindings/environment.sh makes it'
    exit 77
fi
export LEGOSKETCH=$build/legosketch LEGOSKETCH_MODULE=$build/legosketch.so PYTHONPATH=$here/../redis/tests
exec "$here/../postgres/tests/server.sh" "$build" \
    sh -c 'for test in documents items golden; do "$0" -B "$1/$test.py" || exit 1; done' "$python" "$here"
