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
complete -c deadpan -f -a '(__deadpan_words)'
complete -c deadpan -n __deadpan_wants_files -F
