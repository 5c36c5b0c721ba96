#!/usr/bin/env bash
# run.sh BUILD install | WAY: what is built in BUILD is installed, moved and then used in one WAY of those below.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=${here%/tests/install}
build=$(cd "$1" && pwd)
way=$2
work=$build/install_test/$way
prefix=$build/install_test/prefix
rm -rf "$work"
mkdir -p "$work"

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name legosketch.pc 2>/dev/null)" 2>/dev/null) || true
library=$(dirname "$PKG_CONFIG_PATH")

case $way in
install) # first elsewhere, then moved: no installed file may depend on the prefix
    rm -rf "$prefix"
    cmake --install "$build" --prefix "$work/first" >/dev/null
    mv "$work/first" "$prefix"
    cd "$prefix"
    find . ! -type d | sort
    ! grep -rl "$work" . || { echo 'these name the prefix they were installed to'; exit 1; }
    # Each kind of file that a package must have.
    for file in include/legosketch.h bin/legosketch share/man/man1/legosketch.1 share/doc/legosketch/LICENSE \
        share/bash-completion/completions/legosketch share/zsh/site-functions/_legosketch; do
        [ -s $file ] || { echo "$file is missing"; exit 1; }
    done
    [ ! -e include/legosketch_lab.h ] || { echo 'legosketch_lab.h is for experiments, not for users'; exit 1; }
    version=$(sed -n 's/#define LEGO_VERSION "\(.*\)"/\1/p' include/legosketch.h)
    bin/legosketch --version | grep -F "$version"
    ;;

pkgconfig_*)
    shared=$(pkg-config --cflags --libs legosketch)
    static="-static $(pkg-config --static --cflags --libs legosketch)"
    [ $way = pkgconfig_static ] && flags=$static || flags=$shared
    cd "$work"
    gcc -Wall -Wextra -Werror -o user_c "$here/main.c" $flags
    g++ -Wall -Wextra -Werror -o user_cc -x c++ "$here/main.c" -x none $flags
    for program in ./user_c ./user_cc; do
        LD_LIBRARY_PATH=$library $program
        ldd $program 2>&1 | grep -q liblegosketch.so && linked=pkgconfig_shared || linked=pkgconfig_static
        [ $linked = $way ] || { echo "$program is linked as $linked"; exit 1; }
    done
    ;;

find_package | add_subdirectory)
    options=-DCMAKE_PREFIX_PATH=$prefix
    [ $way = find_package ] || options=-DLEGOSKETCH_SOURCE=$source
    cmake -S "$here" -B "$work" "$options" >"$work/log"
    cmake --build "$work" -j "$(nproc)" >>"$work/log" || { cat "$work/log"; exit 1; }
    ctest --test-dir "$work" --output-on-failure --no-tests=error
    ;;

readme) # every ```c block with a main() is a program that compiles without a warning and ends well
    cd "$work"
    awk '/^```c$/ { inside = 1; text = ""; next }
         /^```$/ && inside { inside = 0; if (text ~ /int main/) print text > ("example" ++n ".c") }
         inside { text = text $0 "\n" }' "$source/README.md"
    for file in example*.c; do
        [ -e "$file" ] || { echo 'README.md has no C program'; exit 1; }
        gcc -std=c17 -Wall -Wextra -Werror -o "${file%.c}" "$file" $(pkg-config --cflags --libs legosketch)
        echo "$file:"
        LD_LIBRARY_PATH=$library "./${file%.c}"
    done
    ;;

examples)
    cd "$work"
    gcc -std=c17 -Wall -Wextra -Werror -o wordcount "$source/examples/wordcount.c" $(pkg-config --cflags --libs legosketch)
    answer=$(printf 'The whale, the sea; the' | LD_LIBRARY_PATH=$library ./wordcount the whale ship)
    [ "$answer" = "$(printf 'the\t3\t(3 to 3)\nwhale\t1\t(1 to 1)\nship\t0\t(0 to 0)')" ] || { echo "$answer"; exit 1; }
    ;;
esac
