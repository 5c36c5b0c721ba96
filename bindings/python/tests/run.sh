#!/usr/bin/env bash
# run.sh BUILD: the package as users get it. An sdist, a wheel made of that, and every test with the wheel: once beside
# numpy, pandas, pyarrow and others, once without them; some of them with the oldest Python and the newest, where there
# are such. LEGOSKETCH is the command, whose files are compared. 77: skipped.
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
environment() { # name, its python, packages...
    local name=$1 python=$2
    shift 2
    [ -e "$name/bin/pip" ] || "$python" -m venv "$name"
    "$name/bin/pip" install -q --disable-pip-version-check "$@"
}
makes='scikit-build-core ninja'
beside='numpy pandas pyarrow matplotlib polars duckdb'
checks='mypy twine cibuildwheel'
if ! { environment bare /usr/bin/python3 pytest &&
    environment full /usr/bin/python3 build pytest $makes $checks $beside; } 2>pip.log; then
    cat pip.log
    echo 'skipped: the packages for this test can not be had from PyPI'
    exit 77
fi

# The sdist has all it takes: the wheel is made as if the system had no xxhash.h.
wheel_of_sdist() { # environment
    rm -rf "wheel-$1" "dist-$1"
    "$1/bin/pip" wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "dist-$1" \
        --config-settings "build-dir=$work/wheel-$1" --config-settings cmake.define.CMAKE_IGNORE_PATH=/usr/include \
        --config-settings cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON dist/*.tar.gz \
        >build.log 2>&1 || { cat build.log; fail 'the package can not be built'; }
    grep -q '^XXHASH_INCLUDE_DIR:PATH=.*/xxhash$' "wheel-$1/CMakeCache.txt" || fail 'xxhash.h is not that of the sdist'
}
rm -rf dist
full/bin/python -m build --sdist --no-isolation --outdir dist "$package" >build.log 2>&1 ||
    { cat build.log; fail 'there can be no sdist'; }
wheel_of_sdist full
wheel=$(echo dist-full/*.whl)
case $wheel in *-cp311-abi3-linux_*.whl) ;; *) fail "$wheel is not for the stable ABI of 3.11" ;; esac
full/bin/twine check --strict dist/*.tar.gz "$wheel"
for platform in 'linux x86_64' 'linux aarch64' 'macos arm64' 'macos x86_64'; do
    identifiers=$(full/bin/cibuildwheel --print-build-identifiers --platform ${platform% *} --archs ${platform#* } "$package")
    for found in cp39 cp313 $([ "${platform% *}" = macos ] || echo manylinux musllinux); do
        [[ $identifiers == *$found* ]] || fail "there is no $found among the wheels of $platform"
    done
done

# from the folder of the tests, where no legosketch/ can be imported by mistake
tests() { # environment, tests...
    local name=$1
    shift
    (cd "$package/tests" && "$work/$name/bin/python" -B -m pytest -q -p no:cacheprovider -ra --rootdir=. "$@")
}
for name in full bare; do
    $name/bin/pip install -q --disable-pip-version-check --no-index --force-reinstall "$wheel"
    module=$(echo $name/lib/python3*/site-packages/legosketch/_core.abi3.so)
    shown=$(nm -D --defined-only "$module" | awk '{ print $3 }')
    [ "$shown" = PyInit__core ] || fail "$module shows more than its start"
    tests $name .
done
! bare/bin/python -c 'import numpy' 2>/dev/null || fail 'the bare environment has numpy'
full/bin/mypy --strict --cache-dir mypy_cache "$package/legosketch"
(cd "$package/tests" && "$work/full/bin/mypy" --strict --cache-dir "$work/mypy_cache" typed.py) # of what is installed

# 3.9 has a wheel of its own, of which the stable ABI has not enough; 3.13 takes the one above.
for version in 3.9 3.13; do
    python=$(command -v "$(ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python$version 2>/dev/null | tail -1)" \
        "python$version" | head -1 || true)
    [ -n "$python" ] || { echo "there is no Python $version to try"; continue; }
    environment $version "$python" pytest $makes
    [ $version != 3.9 ] || wheel_of_sdist $version
    $version/bin/pip install -q --disable-pip-version-check --no-index --force-reinstall \
        $([ $version = 3.9 ] && echo dist-3.9/*.whl || echo "$wheel")
    tests $version test_sketch.py test_items.py test_hostile.py test_merging.py test_asking.py
done
