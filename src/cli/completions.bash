# Bash ends words at = and : too. They are joined here, and what stands on the line already is taken off the answers.
_ipcmatrix() {
    local joined=() index=0 glue= word at
    for ((at = 0; at < ${#COMP_WORDS[@]}; at++)); do
        word="${COMP_WORDS[at]}"
        if [[ $at -gt 0 && ( -n $glue || $word == [=:]* ) ]]; then
            joined[-1]+="$word"
        else
            joined+=("$word")
        fi
        glue=
        [[ $word == *[=:] && $at -gt 0 ]] && glue=1
        ((at == COMP_CWORD)) && index=$((${#joined[@]} - 1))
    done
    local COMP_WORDS=("${joined[@]}") COMP_CWORD=$index
    local whole="${joined[index]}"
    _clap_complete_ipcmatrix "$1" "$whole" "$3"
    local before="${whole%"$2"}"
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
}
complete -o nospace -o bashdefault -F _ipcmatrix ipcmatrix
