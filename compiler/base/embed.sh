#!/bin/sh
# embed.sh PACK FILE...: the files as C arrays, for base.h.  The prelude is as it is; specs and
# templates are compressed, all as one, in the variable PACK.  What the build expanded, of
# build/templates/, is called as if it were of templates/, and has no #line.
set -eu
name() {
    case $1 in
    *templates/*) printf %s "templates/${1##*templates/}" ;;
    *) printf %s "$1" ;;
    esac
}
text() { sed '/^#line /d' "$1"; }
array() {                       # array NAME: standard input as an array
    echo "static const unsigned char $1[] = {"
    od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
    echo "0};"
}
pack=$1
shift
echo '#include "base.h"'
packed=
for f; do
    case $f in
    specs/* | *templates/*) packed="$packed $f" ;;
    *)  text "$f" | array prelude
        echo "const Embedded embed_prelude = {\"$f\", (const char *)prelude, sizeof prelude - 1};" ;;
    esac
done

for f in $packed; do text "$f"; printf '\0'; done | gzip -9n | array packed
echo "static const PackedText texts[] = {"
at=0
for f in $packed; do
    n=$(text "$f" | wc -c)
    echo "    {\"$(name "$f")\", $at, $n},"
    at=$((at + n + 1))
done
echo "    {0, 0, 0}};"
echo "const Packed $pack = {packed, sizeof packed - 1, $at, texts, sizeof texts / sizeof *texts - 1};"
