# Completions of deadpan for fish.
function __deadpan_expected
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    deadpan complete -- $before[2..-1] "$current" 2>/dev/null
end
function __deadpan_words
    set -l lines (__deadpan_expected)
    set -l head (string split \t -- $lines[1])
    for line in $lines[2..-1]
        echo $head[2]$line
    end
    if test "$head[1]" = folders
        __fish_complete_directories (commandline -ct)
    end
end
function __deadpan_wants_files
    string match -q 'files*' -- (__deadpan_expected)[1]
end
function __deadpan_wants_sealed
    string match -q 'sealed*' -- (__deadpan_expected)[1]
end
function __deadpan_sealed
    # fish lists the files that it offers after a command without completions.
    set -l files (complete -C "__deadpan_none "(commandline -ct))
    set -l sealed (string match -r -- '^.*\.(?:dpn|age)$' $files)
    if test (count $sealed) -gt 0
        printf '%s\n' $sealed (string match -r -- '^.*/$' $files)
    else if test (count $files) -gt 0
        printf '%s\n' $files
    end
end
complete -c deadpan -f -a '(__deadpan_words)'
complete -c deadpan -n __deadpan_wants_files -F
complete -c deadpan -n __deadpan_wants_sealed -a '(__deadpan_sealed)'
