#!/usr/bin/env bash
# environment.sh BUILD: BUILD/engines/environment, the Python that tests of the Redis module and of the PostgreSQL
# extension run in: clients of both, pytest, and our own package. It stays from one run to the next. 77: skipped.
set -eu
package=$(cd "$(dirname "$0")/python" && pwd)
mkdir -p "$1/engines"
work=$(cd "$1/engines" && pwd)
[ -e "$work/environment/bin/pip" ] || /usr/bin/python3 -m venv "$work/environment"
pip="$work/environment/bin/pip install -q --disable-pip-version-check"
if ! $pip scikit-build-core ninja pytest numpy xxhash redis 'psycopg[binary]' 2>"$work/pip.log"; then
    cat "$work/pip.log"
    echo 'skipped: the packages for these tests can not be had from PyPI'
    exit 77
fi
$pip --no-deps --no-build-isolation --force-reinstall "$package"
