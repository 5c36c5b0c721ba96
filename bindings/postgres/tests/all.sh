#!/usr/bin/env bash
# all.sh PYTHON: every test, beside the server that server.sh has started.
set -eu
tests=$(cd "$(dirname "$0")" && pwd)
make -s -C "$EXTENSION" installcheck >"$EXTENSION/regress.log" 2>&1 ||
    { cat "$EXTENSION/regress.log" "$EXTENSION/regression.diffs"; exit 1; }
grep -E 'tests? passed' "$EXTENSION/regress.log"
cd "$tests"
"$1" -B -m pytest -q -p no:cacheprovider -ra --rootdir=. --durations=5 --basetemp="$EXTENSION/tmp" .
