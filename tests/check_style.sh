#!/usr/bin/env bash
# check_style.sh: every C, header and CUDA file is as clang-format has it, with lines of at most 120 columns.
set -eu
cd "$(dirname "$0")/.."
status=0
mapfile -t files < <(git ls-files --cached --others --exclude-standard src include cli lab train bench fuzz tests bindings |
    grep -E '\.(c|h|cu|cuh)$' | while read -r file; do [ -e "$file" ] && echo "$file"; done)
[ ${#files[@]} -gt 50 ] || { echo 'no files found: this needs git' >&2; exit 1; }

long=$(LC_ALL=C.UTF-8 grep -HnE '^.{121}' "${files[@]}" | cut -d: -f1,2 || true)
[ -z "$long" ] || { echo 'lines of more than 120 columns:'; echo "$long"; status=1; }

if command -v clang-format >/dev/null; then
    odd=$(for file in "${files[@]}"; do clang-format --dry-run -Werror "$file" 2>/dev/null || echo "$file"; done)
    [ -z "$odd" ] || { echo 'not as clang-format has them:'; echo "$odd"; status=1; }
else
    echo 'there is no clang-format: only lines were measured'
fi
[ $status = 0 ] && echo "${#files[@]} files are in style"
exit $status
