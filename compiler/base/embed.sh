#!/bin/sh
# embed.sh FILE...: the files as C arrays, for base.h.  What the build expanded, of
# build/templates/, is called as if it were of templates/, and has no #line.
set -eu
list() {                        # list NAME FILES: an array of Embedded
    echo "const Embedded $1[] = {"
    shift
    for f; do
        echo "    {\"$(name "$f")\", (const char *)bytes_$(id "$f"), sizeof bytes_$(id "$f") - 1},"
    done
    echo "    {0, 0, 0}"
    echo "};"
}
name() {
    case $1 in
    *templates/*) printf %s "templates/${1##*templates/}" ;;
    *) printf %s "$1" ;;
    esac
}
id() { printf %s "$1" | tr -c 'a-zA-Z0-9' '_'; }

echo '#include "base.h"'
specs= templates=
for f; do
    echo "static const unsigned char bytes_$(id "$f")[] = {"
    sed '/^#line /d' "$f" | od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
    echo "0};"
    case $f in
    specs/*) specs="$specs $f" ;;
    *templates/*) templates="$templates $f" ;;
    esac
done
list embed_specs $specs
list embed_templates $templates
p=compiler/spec/prelude.lua
echo "const Embedded embed_prelude = {\"$p\", (const char *)bytes_$(id $p), sizeof bytes_$(id $p) - 1};"
