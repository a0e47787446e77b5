/* SPDX-License-Identifier: MIT
 *
 * `batchaid completion`: prints a completion script for a shell. The script calls `batchaid
 * --complete`.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/cli/cli.h"

static const char bash[] =
    "# SPDX-License-Identifier: MIT\n"
    "# Completion of batchaid for bash: eval \"$(batchaid completion bash)\"\n"
    "_batchaid() {\n"
    "    local line piece rest=${COMP_LINE:0:COMP_POINT} cur prefix words=()\n"
    "    # Bash splits words at = and : too. Pieces without a blank between them are joined.\n"
    "    for piece in \"${COMP_WORDS[@]:0:COMP_CWORD}\"; do\n"
    "        if [[ ${#words[@]} == 0 || $rest == [[:space:]]* ]]; then words+=(\"$piece\"); else "
    "words[-1]+=$piece; fi\n"
    "        rest=${rest#*\"$piece\"}\n"
    "    done\n"
    "    if [[ $rest == [[:space:]]* ]]; then words+=(\"${rest#\"${rest%%[![:space:]]*}\"}\"); "
    "else words[-1]+=$rest; fi\n"
    "    cur=${words[-1]}\n"
    "    if [[ $cur == --*=* ]]; then\n"
    "        words[-1]=${cur%%=*}\n"
    "        cur=${cur#*=}\n"
    "        words+=(\"$cur\")\n"
    "    fi\n"
    "    # Bash keeps the part of the word before $2, the last piece.\n"
    "    if [[ $cur == *\"$2\" ]]; then prefix=${cur%\"$2\"}; fi\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :files) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); compopt -o filenames "
    "2>/dev/null ;;\n"
    "        :folders) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); compopt -o filenames "
    "2>/dev/null ;;\n"
    "        *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done < <(\"${words[0]}\" --complete \"${words[@]:1}\" 2>/dev/null)\n"
    "    COMPREPLY=(\"${COMPREPLY[@]#\"$prefix\"}\")\n"
    "}\n"
    "complete -F _batchaid batchaid\n";

static const char zsh[] =
    "#compdef batchaid\n"
    "# Completion of batchaid for zsh: eval \"$(batchaid completion zsh)\"\n"
    "_batchaid() {\n"
    "    local line\n"
    "    local -a found\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :files) _files; return ;;\n"
    "        :folders) _files -/; return ;;\n"
    "        *$'\\t'*) found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        *) found+=(\"${line//:/\\\\:}\") ;;\n"
    "        esac\n"
    "    done < <(\"${words[1]}\" --complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
    "    _describe batchaid found\n"
    "}\n"
    "compdef _batchaid batchaid\n";

static const char fish[] =
    "# Completion of batchaid for fish: batchaid completion fish | source\n"
    "function __batchaid_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l found ($words[1] --complete $words[2..-1] (commandline -ct) 2>/dev/null)\n"
    "    switch \"$found[1]\"\n"
    "        case :files\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        case :folders\n"
    "            __fish_complete_directories (commandline -ct)\n"
    "        case '*'\n"
    "            printf '%s\\n' $found\n"
    "    end\n"
    "end\n"
    "complete -c batchaid -f -a '(__batchaid_complete)'\n";

static const struct {
    const char *name, *script;
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

int cmd_completion(const struct options *o)
{
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, o->args[0]) == 0) {
            fputs(shells[i].script, stdout);
            return EXIT_DONE;
        }
    fprintf(stderr, "batchaid: completion: there is none for '%s'; use bash, zsh or fish\n",
            o->args[0]);
    return EXIT_USAGE;
}
