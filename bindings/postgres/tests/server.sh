#!/usr/bin/env bash
# server.sh BUILD COMMAND...: runs COMMAND beside a PostgreSQL server of its own that has the extension. The system's
# server is only copied: the copy (servers find their files relative to themselves), the extension and the data are in
# a folder of /tmp, which goes with the server in the end, even if this is killed. 77: there is no server to copy.
#
# COMMAND has PGHOST, PGUSER and PGDATABASE of it, SERVER_LOG, EXTENSION (where it was compiled) and the server's
# programs first in PATH; it runs in the folder that goes. SERVER_OPTIONS go to the server: '-c work_mem=1GB'.
set -eu
build=$(cd "$1" && pwd)
shift
source=$(cd "$(dirname "$0")/.." && pwd)
config=${PG_CONFIG:-$(command -v pg_config || ls -d /usr/lib/postgresql/*/bin/pg_config 2>/dev/null | tail -1)}
if [ -z "$config" ] || [ ! -x "$("$config" --bindir)/postgres" ] || [ ! -e "$("$config" --pgxs)" ]; then
    echo 'skipped: no PostgreSQL server, or not what extensions are compiled with; scripts/setup postgres installs both'
    exit 77
fi
bin=$("$config" --bindir)

work=$(mktemp -d /tmp/legosketch-postgres.XXXXXX)
server=
finish() {
    [ -z "$server" ] || { kill -INT "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$work"
    kill "$watch" 2>/dev/null || true
}
# Should this be killed, the server is told by the kernel (setpriv), and the folder goes by this.
setsid bash -c "while kill -0 $$; do sleep 1; done; sleep 2; rm -rf '$work'" >/dev/null 2>&1 &
watch=$!
trap finish EXIT
trap 'exit 1' INT TERM HUP

# The server refuses to be root's.
user=$(id -un)
if [ "$(id -u)" = 0 ]; then
    user=$(getent passwd postgres nobody | head -1 | cut -d: -f1)
    as=(setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups)
else
    as=(setpriv)
fi

for folder in "$bin" "$("$config" --pkglibdir)" "$("$config" --sharedir)"; do
    mkdir -p "$work$folder"
    cp -r "$folder/." "$work$folder"
done
mkdir -p "$work/data" "$work/extension/src"
cp -r "$source"/{Makefile,legosketch.control,legosketch.map,sql,regress} "$work/extension"
# No objects of an earlier make: copied now, they would look newer than what they were compiled from.
cp "$source"/src/*.[ch] "$work/extension/src"
make -s -C "$work/extension" install TOP="$source/../.." LIBLEGO="$build/liblegosketch.a" PG_CONFIG="$config" \
    DESTDIR="$work" >"$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
chmod 755 "$work"
chown -R "$user" "$work/data"

export PATH="$work$bin:$PATH" PGHOST="$work/data" PGUSER=postgres PGDATABASE=postgres PG_CONFIG="$config"
export SERVER_LOG="$work/data/log" EXTENSION="$work/extension"
cd "$work"
"${as[@]}" initdb -D data -U postgres --auth=trust --no-sync --encoding=UTF8 --locale=C >make.log 2>&1 ||
    { cat make.log; exit 1; }
"${as[@]}" --pdeathsig=QUIT bash -c 'exec postgres "$@" >>data/log 2>&1' - -D data -c listen_addresses= \
    -c unix_socket_directories="$work/data" -c fsync=off ${SERVER_OPTIONS:-} &
server=$!
until pg_isready -q; do
    kill -0 "$server" 2>/dev/null || { cat data/log; exit 1; }
    sleep 0.1
done
"$@"
