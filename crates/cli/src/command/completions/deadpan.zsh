#compdef deadpan
# Completions of deadpan for zsh.
_deadpan() {
    local -a lines offers
    local line kind prefix
    local -i found=1
    lines=("${(@f)$(deadpan complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
    kind=${lines[1]%%$'\t'*} prefix=${lines[1]#*$'\t'}
    [[ -n $prefix ]] && compset -P "${(b)prefix}"
    for line in "${(@)lines[2,-1]}"; do
        offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    (( $#offers )) && _describe -t values 'deadpan' offers && found=0
    case $kind in
        files) _files && found=0 ;;
        sealed) _files -g '*.(dpn|age) *(-/)' && found=0 ;;
        folders) _files -/ && found=0 ;;
    esac
    return found
}
if [[ $funcstack[1] == _deadpan ]]; then
    _deadpan "$@"
else
    compdef _deadpan deadpan
fi
