#!/bin/sh
# expand.sh FILE FOLDER SIZE...: a kernel's text once for each size of an element, weave.h
# as FOLDER/weave1.h, weave2.h, ...: ${size} is that size, ${each} how many are a row of a
# block (vector_size.h).
# The first line tells the compiler which file the lines are of.
set -eu
file=$1 folder=$2
shift 2
row=$(sed -n 's/^#define RAVEL_ROW_BYTES //p' "${0%/*}/c/vector_size.h")
name=${file##*/}
for size; do
    out=$folder/${name%.*}$size.${name##*.}
    echo "#line 1 \"$file\"" >"$out.tmp"
    sed "s/\${size}/$size/g; s/\${each}/$((row / size))/g" "$file" >>"$out.tmp"
    mv "$out.tmp" "$out"
done
