# man3.awk: the man page of a header, from its comments.
#   awk -v page=ravel -v version=0.1.0 -v date=2026-11-26 -v about='...' -f man3.awk ravel.h
# A comment at the left margin describes the code from there to the next one.

function escape(s) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    return s ~ /^[.']/ ? "\\&" s : s
}

# Sentences are filled; lines that are indented further are shown as they are.
function say(text,    line, n, i, shown) {
    n = split(text, line, "\n")
    for (i = 1; i < n; i++) {
        if ((line[i] ~ /^  /) != shown && line[i] != "") {
            print shown ? ".fi" : ".nf"
            shown = !shown
        }
        print line[i] == "" ? (shown ? "" : ".PP") : escape(line[i])
    }
    if (shown)
        print ".fi"
}

function flush(    line, n, i, shift) {
    sub(/\n+$/, "\n", code)
    if (code ~ /RAVEL_API|typedef|#define/) {
        n = split(code, line, "\n")
        print (any++ ? ".PP\n.nf" : ".nf")
        for (i = 1; i < n; i++) {
            if (sub(/^RAVEL_API /, "", line[i]))
                shift = 1
            else if (shift)
                sub(/^          /, "", line[i])
            if (line[i] ~ /;/)
                shift = 0
            print line[i] == "" ? "" : "\\fB" escape(line[i]) "\\fR"
        }
        print ".fi"
        if (note != "") {
            print ".RS"
            say(note)
            print ".RE"
        }
    }
    code = note = ""
}

FNR == NR {                              # first pass: the names for the index
    if (match($0, /^RAVEL_API .*[a-z_0-9]+\(/)) {
        name = substr($0, 1, RLENGTH - 1)
        sub(/.*[ *]/, "", name)
        names = names ", " name
    }
    next
}

FNR == 1 {
    print ".TH " toupper(page) " 3 \"" date "\" \"ravel " version "\" \"Library functions\""
    print ".SH NAME\n" page names " \\- " about
    print ".SH SYNOPSIS\n.nf\n#include <" page ".h>\n\ncc ... \\-lravel\n.fi\n.SH DESCRIPTION"
    head = 1
}

/^\/\*/ {
    flush()
    inside = 1
}

inside {
    last = /\*\//
    sub(/ *\*\/.*$/, "")
    sub(/^ *\/?\*+ ?/, "")
    if (!(last && $0 == ""))
        note = note $0 "\n"
    if (last) {
        inside = 0
        if (head) {
            say(note)
            print ".SH INTERFACE"
            head = 0
            note = ""
        }
    }
    next
}

/^#(if|endif)|^extern "C"|^}$/ { next }  # guards
/^#define RAVEL[A-Z_]*_H$|^#include|^#define RAVEL_API/ { next }
/^#(else|elif)/ { next }

!head && (code != "" || $0 != "") { code = code $0 "\n" }

END {
    flush()
    print ".SH SEE ALSO\n.BR ravel (1)" (page == "ravel" ? ",\n.BR ravel_layout (3),\n.BR ravel_sparse (3),\n.BR ravel_gpu (3)" : ",\n.BR ravel (3)")
}
