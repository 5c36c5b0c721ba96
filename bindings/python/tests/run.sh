#!/usr/bin/env bash
# run.sh BUILD: the package as users get it. An sdist, a wheel made of that, and every test with the wheel: once beside
# numpy, pandas, pyarrow and others, once without them. LEGOSKETCH is the command, whose files are compared. 77: skipped.
set -eu
package=$(cd "$(dirname "$0")/.." && pwd)
work=$(cd "$1" && pwd)/python_test
mkdir -p "$work"
cd "$work"

fail() {
    echo "$*"
    exit 1
}

# Environments stay from one run to the next; only what is missing in them is fetched.
environment() { # name, packages...
    local name=$1
    shift
    [ -e "$name/bin/pip" ] || /usr/bin/python3 -m venv "$name"
    "$name/bin/pip" install -q --disable-pip-version-check "$@"
}
beside='numpy pandas pyarrow matplotlib polars duckdb'
if ! { environment bare pytest && environment full build scikit-build-core ninja pytest mypy $beside; } 2>pip.log
then
    cat pip.log
    echo 'skipped: the packages for this test can not be had from PyPI'
    exit 77
fi

rm -rf dist
full/bin/python -m build --no-isolation -Ccmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON --outdir dist "$package" \
    >build.log 2>&1 || { cat build.log; fail 'the package can not be built'; }
wheel=$(echo dist/*.whl)
case $wheel in *-cp311-abi3-linux_*.whl) ;; *) fail "$wheel is not for the stable ABI of 3.11" ;; esac

for name in full bare; do
    $name/bin/pip install -q --disable-pip-version-check --no-index --force-reinstall "$wheel"
    module=$(echo $name/lib/python3*/site-packages/legosketch/_core.abi3.so)
    shown=$(nm -D --defined-only "$module" | awk '{ print $3 }')
    [ "$shown" = PyInit__core ] || fail "$module shows more than its start"
    # from the folder of the tests, where no legosketch/ can be imported by mistake
    (cd "$package/tests" && "$work/$name/bin/python" -B -m pytest -q -p no:cacheprovider -ra --rootdir=. .)
done
! bare/bin/python -c 'import numpy' 2>/dev/null || fail 'the bare environment has numpy'
full/bin/mypy --strict --cache-dir mypy_cache "$package/legosketch"
(cd "$package/tests" && "$work/full/bin/mypy" --strict --cache-dir "$work/mypy_cache" typed.py) # of what is installed
