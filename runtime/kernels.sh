#!/bin/sh
# kernels.sh KERNEL.DEF: an #include for each file of the kernels' text, once, in the order of the
# T lines; a file with a size for each size of the kernels with that text.  The functions of FILE.h
# are those of another set where OTHER_FILE is defined: as their declarations.
set -eu
sed -e '/^\/\*.*\*\/$/d' -e '/^\/\*/,/\*\/$/d' "$1" | awk '
function include(file) {
    other = "OTHER_" file
    sub(/\.[ch]$/, "", other)
    if (!(file in seen))
        print "#ifdef " other "\n" other "\n#else\n" \
              "#include \"../templates/c/" file "\"\n#endif"
    seen[file] = 1
}
BEGIN { RS = ")"; seen["vector.h"] = 1 }       # kernels_isa.h has it before all others
{ gsub(/["\n]/, ""); sub(/^ */, "") }
/^T\(/ { name = $1; gsub(/^T\(|,$/, "", name); $1 = ""; order[++names] = name; text[name] = $0 }
/^K\(/ { sizes[$4] = sizes[$4] " " $3 + 0 }
END {
    for (k = 1; k <= names; k++) {
        files = split(text[order[k]], file, " ")
        n = split(sizes[order[k]], size, " ")
        for (i = 1; i <= files; i++)
            for (j = 1; j <= n; j++) {
                name = file[i]
                sub(/\$\{size\}/, size[j], name)
                include(name)
            }
    }
}'
