#!/bin/sh
# expand.sh FILE FOLDER SIZE...: a kernel's text once for each size of an element, weave.h
# as FOLDER/weave1.h, weave2.h, ...: ${size} is that size, ${each} how many are 16 bytes.
# The first line tells the compiler which file the lines are of.
set -eu
file=$1 folder=$2
shift 2
name=${file##*/}
for size; do
    out=$folder/${name%.*}$size.${name##*.}
    echo "#line 1 \"$file\"" >"$out.tmp"
    sed "s/\${size}/$size/g; s/\${each}/$((16 / size))/g" "$file" >>"$out.tmp"
    mv "$out.tmp" "$out"
done
