#!/usr/bin/env bash
# check_dist.sh: `make dist` gives the same bytes in another checkout, at another place, with other habits; and they are
# the sources.
set -eu -o pipefail
cd "$(dirname "$0")/.."
git rev-parse HEAD >/dev/null 2>&1 || { echo 'this is no git checkout, of which alone it can be made'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

dist() { # folder, umask, time zone: the file's checksum
    git clone -q --shared . "$work/$1"
    (umask "$2" && TZ=$3 && export TZ XZ_DEFAULTS=-9 && "$work/$1/scripts/dist" | cut -d' ' -f1)
}
one=$(dist one 022 UTC)
two=$(dist two 077 Asia/Tokyo)
[ "$one" = "$two" ] || { echo "two archives of one commit differ: $one, $two"; exit 1; }
files=$(tar -tf "$work"/one/build/legosketch-*.tar.xz | grep -vc '/$')
tracked=$(git ls-tree -r HEAD | wc -l)
[ "$files" = "$tracked" ] || { echo "the archive has $files files, the commit $tracked"; exit 1; }
echo "$files files, twice the same archive: $one"
