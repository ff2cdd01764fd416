#!/bin/sh
# embed.sh PACK FILE...: the files as C arrays, for base.h.  Specs are as they are; templates are
# compressed, all as one, in the variable PACK.  What the build expanded, of build/templates/, is
# called as if it were of templates/, and has no #line.
set -eu
name() {
    case $1 in
    *templates/*) printf %s "templates/${1##*templates/}" ;;
    *) printf %s "$1" ;;
    esac
}
id() { printf %s "$1" | tr -c 'a-zA-Z0-9' '_'; }
text() { sed '/^#line /d' "$1"; }
array() {                       # array NAME: standard input as an array
    echo "static const unsigned char $1[] = {"
    od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
    echo "0};"
}
entry() { echo "    {\"$(name "$1")\", (const char *)bytes_$(id "$1"), sizeof bytes_$(id "$1") - 1}"; }

pack=$1
shift
echo '#include "base.h"'
specs= templates= p=compiler/spec/prelude.lua
for f; do
    case $f in
    *templates/*) templates="$templates $f" ;;
    *) text "$f" | array "bytes_$(id "$f")" ;;
    esac
    case $f in specs/*) specs="$specs $f" ;; esac
done
if [ -n "$specs" ]; then
    echo "const Embedded embed_specs[] = {"
    for f in $specs; do echo "$(entry "$f"),"; done
    echo "    {0, 0, 0}};"
    echo "const Embedded embed_prelude ="
    echo "$(entry $p);"
fi

for f in $templates; do text "$f"; printf '\0'; done | gzip -9n | array packed
echo "static const PackedText texts[] = {"
at=0
for f in $templates; do
    n=$(text "$f" | wc -c)
    echo "    {\"$(name "$f")\", $at, $n},"
    at=$((at + n + 1))
done
echo "    {0, 0, 0}};"
echo "const Packed $pack = {packed, sizeof packed - 1, $at, texts, sizeof texts / sizeof *texts - 1};"
