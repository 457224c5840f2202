# Completions of deadpan for bash.
_deadpan() {
    local kind offer names=0 replaced=${COMP_WORDS[COMP_CWORD]}
    # A separator that stands alone is not part of what bash replaces.
    [[ $replaced == [=:] ]] && replaced=
    COMPREPLY=()
    {
        IFS=$'\t' read -r kind _
        while IFS=$'\t' read -r offer _; do COMPREPLY+=("$offer") names=1; done
    } < <(deadpan complete --line "${COMP_LINE:0:COMP_POINT}" --replaced "$replaced" 2> /dev/null)
    # Without other offers, bash offers files by itself (-o default).
    case $kind in
        nothing) compopt +o default 2> /dev/null ;;
        files) ((names)) && compopt -o filenames 2> /dev/null && while IFS= read -r offer; do COMPREPLY+=("$offer"); done < <(compgen -f -- "$replaced") ;;
        sealed)
            while IFS= read -r offer; do COMPREPLY+=("$offer"); done < <(compgen -f -X '!*.dpn' -- "$replaced"; compgen -f -X '!*.age' -- "$replaced")
            # Without sealed files, bash offers all files by itself.
            ((${#COMPREPLY[@]})) && compopt -o filenames 2> /dev/null && while IFS= read -r offer; do COMPREPLY+=("$offer"); done < <(compgen -d -- "$replaced")
            ;;
        folders) compopt -o filenames 2> /dev/null && while IFS= read -r offer; do COMPREPLY+=("$offer"); done < <(compgen -d -- "$replaced") ;;
    esac
}
complete -o default -F _deadpan deadpan
