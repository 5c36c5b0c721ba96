#!/usr/bin/env bash
# run_spark.sh BUILD: legosketch.spark on a cluster of its own on this machine, all files of which are below BUILD.
# pyspark is half a gigabyte, so its environment stays from one run to the next. 77: skipped.
set -eu
package=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/spark_test"
work=$(cd "$1/spark_test" && pwd)

if [ ! -x /usr/bin/java ] && ! command -v java >/dev/null; then
    echo 'skipped: there is no Java; scripts/setup spark installs it'
    exit 77
fi
[ -e "$work/environment/bin/pip" ] || /usr/bin/python3 -m venv "$work/environment"
pip="$work/environment/bin/pip install -q --disable-pip-version-check"
# wheel: without it pip installs pyspark, which has no wheel, in a deprecated way
if ! { $pip wheel scikit-build-core && $pip 'pyspark==4.3.*' 'pandas>=3' pyarrow numpy pytest; } 2>"$work/pip.log"; then
    cat "$work/pip.log"
    echo 'skipped: the packages for this test can not be had from PyPI'
    exit 77
fi
$pip --no-deps --no-build-isolation --force-reinstall "$package"
cd "$package/tests" # where no legosketch/ can be imported by mistake
exec "$work/environment/bin/python" -B -m pytest -q -p no:cacheprovider -ra --rootdir=. --durations=5 \
    --basetemp="$work/tmp" test_spark.py
