#!/bin/sh
# kernels.sh KERNEL.DEF SHARED.DEF: an #include for each file of the kernels' text, once, in the
# order of the T lines; a file with a size for each size of the kernels with that text.  A set of
# instructions may take the functions of a file from another set, or let others have them
# (kernels_shared.def).
set -eu
without_comments() { sed -e '/^\/\*.*\*\/$/d' -e '/^\/\*/,/\*\/$/d' "$1"; }
{
    without_comments "$2" | awk 'BEGIN { RS = ";" } NF {
        gsub(/[\n ]+/, " ")
        split($0, part, ": *")
        split(part[2], name, "(")
        print "S " part[1] " " name[1] " " substr(part[2], length(name[1]) + 1)
    }'
    without_comments "$1" | awk 'BEGIN { RS = ")" } { gsub(/["\n]/, ""); sub(/^ */, "") } NF'
} | awk '
function functions(when, base, how, i) {
    if (!(base in shared))
        return
    print "#ifdef " when base
    for (i = 1; i <= shared[base]; i++)
        print how "(" when base ", " name[base, i] ", " arguments[base, i] ")"
    print "#endif"
}
function include(file, base) {
    base = file
    sub(/\.[ch]$/, "", base)
    if (file in seen)
        return base
    seen[file] = 1
    functions("OTHER_", base, "FUNCTION_OF")
    print "#ifndef OTHER_" base "\n#include \"../templates/c/" file "\"\n#endif"
    functions("SHARES_", base, "SHARE")
    return base
}
BEGIN { seen["vector.h"] = 1 }                 # kernels_isa.h has it before all others
/^S / {
    file = $2
    name[file, ++shared[file]] = $3
    $1 = $2 = $3 = ""
    sub(/^ */, "")
    arguments[file, shared[file]] = $0
}
/^T\(/ { kernel = $1; gsub(/^T\(|,$/, "", kernel); $1 = ""; order[++names] = kernel; text[kernel] = $0 }
/^K\(/ { sub(/,$/, "", $4); sizes[$4] = sizes[$4] " " $3 + 0 }
END {
    for (k = 1; k <= names; k++) {
        files = split(text[order[k]], file_of, " ")
        n = split(sizes[order[k]], size, " ")
        for (i = 1; i <= files; i++)
            for (j = 1; j <= n; j++) {
                one = file_of[i]
                sub(/\$\{size\}/, size[j], one)
                included[include(one)]
            }
    }
    for (base in shared)
        if (!(base in included)) {
            print "kernels.sh: no kernel has the file " base > "/dev/stderr"
            exit 1
        }
}'
