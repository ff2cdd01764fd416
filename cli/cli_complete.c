/* completion: scripts by which shells complete the command line.  All they know comes
 * from the tables of commands, options, element types, kinds and targets; the names of
 * layouts come from `ravel list` when the user asks. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* What may stand where a value is expected. */
typedef struct {
    const char *words;             /* separated by spaces; NULL: none */
    bool layouts, tensors, files;
} Values;

typedef struct {
    const char *shell;
    void (*begin)(Cli *);
    void (*command)(Cli *, const Command *);
    const char *end;
} Script;

#define SHELLS "bash zsh fish"

static const char *
join(Cli *c, const char *const *name)
{
    Buf b = buf_new(c->arena);
    for (int i = 0; name[i]; i++)
        buf_printf(&b, "%s%s", i ? " " : "", name[i]);
    return b.s;
}

static const char *
dtype_names(Cli *c)
{
    const char **name = arena_array(c->arena, const char *, ndtypes + 1);
    for (int i = 0; i < ndtypes; i++)
        name[i] = dtypes[i].name;
    return join(c, name);
}

static const char *
way_names(Cli *c)
{
    Buf b = buf_new(c->arena);
    for (const PictureWay *w = picture_ways; w->name; w++)
        buf_printf(&b, "%s%s", b.len ? " " : "", w->name);
    return b.s;
}

static const char *
processor_names(Cli *c)
{
    return arena_printf(c->arena, "%s here", machine_names() + 1);
}

/* The values of an argument that the help calls `arg`. */
static Values
values_of(Cli *c, const char *arg)
{
    if (!strcmp(arg, "LAYOUT") || !strcmp(arg, "LAYOUT|FILE"))
        return (Values){.layouts = true, .files = true};
    if (!strncmp(arg, "ACCESS", 6))
        return (Values){.layouts = true};
    if (!strcmp(arg, "TENSOR"))
        return (Values){.tensors = true};
    if (!strcmp(arg, "[WORD...|FILE]") || !strncmp(arg, "FILE", 4) || !strcmp(arg, "IN OUT"))
        return (Values){.files = true};
    return (Values){.words = !strcmp(arg, "T")     ? dtype_names(c)
                           : !strcmp(arg, "K")     ? join(c, cli_kinds)
                           : !strcmp(arg, "L")     ? join(c, cli_targets)
                           : !strcmp(arg, "WHAT")  ? way_names(c)
                           : !strcmp(arg, "CPU")   ? processor_names(c)
                           : !strcmp(arg, "HOW")   ? join(c, sparse_equals)
                           : !strcmp(arg, "T[,T]") ? "i32 i64"
                           : !strcmp(arg, "SHELL") ? SHELLS : NULL};
}

/* Text for a place between single quotes: characters of `special` get a backslash, and a
 * quote becomes `quote`. */
static const char *
quoted(Cli *c, const char *text, const char *special, const char *quote)
{
    Buf b = buf_new(c->arena);
    for (; *text; text++)
        if (*text == '\'')
            buf_add(&b, quote);
        else
            buf_printf(&b, "%s%c", strchr(special, *text) ? "\\" : "", *text);
    return b.s;
}

/* The description up to its first semicolon. */
static const char *
summary_of(Cli *c, const struct argp_option *o)
{
    return arena_printf(c->arena, "%.*s", (int)strcspn(o->doc, ";"), o->doc);
}

static void
bash_values(Cli *c, const char *arg)
{
    const Values v = values_of(c, arg);
    if (v.words)
        printf(" words='%s'", v.words);
    if (v.layouts)
        printf(" words=$(_ravel_layouts)");
    if (v.tensors)
        printf(" words=$(_ravel_tensors)");
    printf("%s;;\n", v.files ? " files=1" : "");
}

/* The case of the word before the cursor: options with a value. */
static void
bash_options(Cli *c)
{
    const Command *cmd;
    const struct argp_option *o;
    bool seen[128] = {false};
    for (int i = 0; (cmd = cli_command(i)); i++)
        for (int k = 0; (o = cli_option(cmd, k)); k++)
            if (o->arg && !seen[o->key]) {
                seen[o->key] = true;
                printf("    -%c|--%s)", o->key, o->name);
                bash_values(c, o->arg);
            }
}

static void
bash_begin(Cli *c)
{
    const Command *cmd;
    printf("# Completion of ravel for bash, made by `ravel completion bash`.\n"
           "_ravel_layouts() { ravel list 2>/dev/null | cut -d' ' -f1; }\n"
           "# compgen expands words as the shell does, so only plain ones are offered.\n"
           "_ravel_tensors() {\n"
           "    local w\n"
           "    for w in \"${COMP_WORDS[@]}\"; do\n"
           "        w=${w//[\\\\\\'\\\"]/} w=${w/#\\~\\//~/}\n"
           "        [[ $w == *.@(npz|safetensors|gguf) && -f $w ]] || continue\n"
           "        ravel list \"$w\" 2>/dev/null | cut -d' ' -f1 | grep -x '[][A-Za-z0-9_.:/+-]*'\n"
           "        return\n"
           "    done\n"
           "}\n\n"
           "_ravel() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local words= files=\n"
           "    if [ \"$cur\" = = ]; then cur=\n"
           "    elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
           "    case $prev in\n");
    bash_options(c);
    printf("    *) case $COMP_CWORD:${COMP_WORDS[1]}:$cur in\n    1:*) words='");
    for (int i = 0; (cmd = cli_command(i)); i++)
        printf("%s ", cmd->name);
    printf("';;\n");
}

static void
bash_command(Cli *c, const Command *cmd)
{
    const struct argp_option *o;
    printf("    *:%s:-*) words='", cmd->name);
    for (int k = 0; (o = cli_option(cmd, k)); k++)
        printf("-%c --%s ", o->key, o->name);
    printf("--help';;\n    *:%s:*)", cmd->name);
    bash_values(c, cmd->args);
}

static void
zsh_begin(Cli *c)
{
    const Command *cmd;
    printf("#compdef ravel\n"
           "# Completion of ravel for zsh, made by `ravel completion zsh`.\n"
           "_ravel_layouts() {\n"
           "    compadd -- ${${(f)\"$(ravel list 2>/dev/null)\"}%%%% *}\n"
           "    _files\n}\n\n"
           "_ravel_tensors() {\n"
           "    local w\n"
           "    for w in ${(Q)words}; do\n"
           "        [[ $w == *.(npz|safetensors|gguf) && -f $w ]] || continue\n"
           "        compadd -- ${${(f)\"$(ravel list $w 2>/dev/null)\"}%%%% *}\n"
           "        return\n"
           "    done\n"
           "}\n\n"
           "_ravel() {\n"
           "    local -a commands=(\n");
    for (int i = 0; (cmd = cli_command(i)); i++)
        printf("        '%s:%s'\n", cmd->name, quoted(c, cmd->summary, ":", "'\\''"));
    printf("    )\n"
           "    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
           "    shift words; (( CURRENT-- ))\n"
           "    case $words[1] in\n");
}

/* ':MESSAGE:ACTION' of _arguments. */
static const char *
zsh_values(Cli *c, const char *arg)
{
    const Values v = values_of(c, arg);
    return arena_printf(c->arena, ":%s:%s%s%s", quoted(c, arg, ":[]", ""),
                        v.words ? "(" : "", v.words     ? v.words
                                          : v.layouts ? "_ravel_layouts"
                                          : v.tensors ? "_ravel_tensors"
                                          : v.files   ? "_files" : " ",
                        v.words ? ")" : "");
}

static void
zsh_command(Cli *c, const Command *cmd)
{
    const struct argp_option *o;
    printf("    %s) _arguments", cmd->name);
    for (int k = 0; (o = cli_option(cmd, k)); k++)
        printf(" \\\n        %s{-%c%s,--%s%s}'[%s]%s'", o->key == 'f' ? "'*'" : "",
               o->key, o->arg ? "+" : "", o->name, o->arg ? "=" : "",
               quoted(c, summary_of(c, o), ":[]", "'\\''"),
               o->arg ? zsh_values(c, o->arg) : "");
    if (*cmd->args)
        printf(" \\\n        '*%s'", zsh_values(c, cmd->args));
    printf(" \\\n        --help'[print help]';;\n");
}

static void
fish_begin(Cli *c)
{
    const Command *cmd;
    printf("# Completion of ravel for fish, made by `ravel completion fish`.\n"
           "function __ravel_layouts\n"
           "    ravel list 2>/dev/null | string replace -r ' +' \\t\n"
           "end\n"
           "function __ravel_tensors\n"
           "    for w in (commandline -op)\n"
           "        if string match -qr '\\.(npz|safetensors|gguf)$' -- $w; and test -f $w\n"
           "            ravel list $w 2>/dev/null | string replace -r ' +' \\t\n"
           "            return\n"
           "        end\n"
           "    end\n"
           "end\n"
           "complete -c ravel -f\n");
    for (int i = 0; (cmd = cli_command(i)); i++)
        printf("complete -c ravel -n __fish_use_subcommand -a %s -d '%s'\n", cmd->name,
               quoted(c, cmd->summary, "\\", "\\'"));
}

/* The options of `complete` for an argument. */
static void
fish_values(Cli *c, const char *arg)
{
    const Values v = values_of(c, arg);
    if (v.words)
        printf(" -a '%s'", v.words);
    if (v.layouts)
        printf(" -a '(__ravel_layouts)'");
    if (v.tensors)
        printf(" -a '(__ravel_tensors)'");
    if (v.files)
        printf(" -F");
}

static void
fish_command(Cli *c, const Command *cmd)
{
    const struct argp_option *o;
    for (int k = 0; (o = cli_option(cmd, k)); k++) {
        printf("complete -c ravel -n '__fish_seen_subcommand_from %s' -s %c -l %s%s",
               cmd->name, o->key, o->name, !o->arg ? "" : values_of(c, o->arg).files
                                                   ? " -r" : " -x");
        if (o->arg)
            fish_values(c, o->arg);
        printf(" -d '%s'\n", quoted(c, summary_of(c, o), "\\", "\\'"));
    }
    if (!*cmd->args)
        return;
    printf("complete -c ravel -n '__fish_seen_subcommand_from %s'", cmd->name);
    fish_values(c, cmd->args);
    printf("\n");
}

static const Script scripts[] = {
    {"bash", bash_begin, bash_command,
     "    esac;;\n    esac\n"
     "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"\n"
     "                             [ \"$files\" ] && compgen -f -- \"$cur\")\n"
     "}\ncomplete -o filenames -F _ravel ravel\n"},
    {"zsh", zsh_begin, zsh_command, "    esac\n}\n\n_ravel \"$@\"\n"},
    {"fish", fish_begin, fish_command, ""},
};

int
cmd_completion(Cli *c)
{
    const Command *cmd;
    for (int i = 0; i < LEN(scripts); i++) {
        const Script *s = &scripts[i];
        if (strcmp(s->shell, c->o.arg[0]))
            continue;
        s->begin(c);
        for (int k = 0; (cmd = cli_command(k)); k++)
            s->command(c, cmd);
        fputs(s->end, stdout);
        return EXIT_YES;
    }
    cli_fail(c, "there is no completion for '%s': the shells are " SHELLS, c->o.arg[0]);
}
