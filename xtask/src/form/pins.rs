//! Checks that scripts install only pinned packages from the network. A package is pinned if the command states its
//! version and, if the package manager supports checksums, its checksums.

/// Reports the commands of a shell script that install a package without a fixed version.
pub(crate) fn faults(script: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut lines = (1..).zip(script.lines());
    while let Some((number, line)) = lines.next() {
        let mut whole = without_comment(line).to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            let Some((_, next)) = lines.next() else { break };
            whole.push_str(without_comment(next));
        }
        faults.extend(
            whole.replace("&&", ";").split([';', '|']).filter_map(fault).map(|fault| format!("{number}: {fault}")),
        );
    }
    faults
}

fn without_comment(line: &str) -> &str {
    let line = line.trim_end();
    if line.trim_start().starts_with('#') { "" } else { line.split_once(" # ").map_or(line, |(code, _)| code) }
}

fn fault(command: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        command.split(|c: char| c.is_whitespace() || "\"'`(){}$".contains(c)).filter(|word| !word.is_empty()).collect();
    if words.iter().any(|word| word.ends_with("@latest")) {
        return Some("`@latest` is another version every day: name one, in scripts/tool");
    }
    words.iter().enumerate().find_map(|(place, word)| {
        let program = word.rsplit('/').next().unwrap_or_default();
        // For an argument `--option=value`, only the part before `=` is compared.
        let rest = words[place + 1..].iter().map(|word| word.split_once('=').map_or(*word, |(name, _)| name));
        let has = |wanted: &[&str]| rest.clone().any(|word| wanted.contains(&word));
        match program {
            "pip" | "pip3" if has(&["install", "download"]) && !has(&["--require-hashes", "--no-index"]) => {
                Some("`pip` without --require-hashes: add the packages to a lock file of scripts/tool")
            }
            "npm" if has(&["install", "i", "add", "exec"]) => Some("`npm` without `ci`: install from a lock file"),
            "npm" if has(&["ci"]) && !has(&["--ignore-scripts"]) => Some("`npm ci` without --ignore-scripts"),
            "npx" => Some("`npx` runs what no lock file lists: install it with `npm ci`"),
            // Our own module comes from a folder, and the sums of what it needs from Go's database.
            "go" if rest.clone().nth(1).is_some_and(|module| module.starts_with("deadpan.example/deadpan@")) => None,
            "go" if matches!(rest.clone().next(), Some("install" | "get")) => {
                Some("`go install` without a go.sum: add the program to scripts/tool")
            }
            "cargo" if has(&["install"]) && !has(&["--path"]) && !(has(&["--locked"]) && has(&["--version"])) => {
                Some("`cargo install` without --locked and --version: add the crate to scripts/tool")
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installs_that_are_not_pinned_are_found() {
        for planted in [
            "GOBIN=\"$tools\" go install filippo.io/age/cmd/...@latest 2>log && return",
            "(download github.com/xformerfhs/blockpad@latest) >/dev/null",
            "go install filippo.io/age/cmd/age@v1.3.2",
            "    cargo install --locked rage",
            "    cargo install rage --version 0.12.1",
            "python3 -m venv --clear x && \"$target/venv/bin/pip\" --quiet install 'maturin==1.16.0'",
            "if python3 -m pip download --no-deps scikit-image; then",
            "npm install --prefix \"$folder\" azurite@3.35.0",
            "npm ci --silent --prefix leaky >&2",
            "npx playwright test",
        ] {
            assert_eq!(faults(&format!("#!/bin/sh\n{planted}\n")).len(), 1, "{planted}");
        }
    }

    #[test]
    fn a_command_of_several_lines_is_read_whole() {
        assert!(faults("x/bin/pip install --quiet \\\n    --require-hashes \\\n    -r list.txt\n").is_empty());
        assert_eq!(faults("true\nx/bin/pip install \\\n    pillow\n")[0].split(':').next(), Some("2"));
    }

    #[test]
    fn pinned_installs_comments_and_advice_may_stand() {
        let script = "# `pip install ray` brings Ray, `go install` nothing.\n\
                      cargo install --locked --version \"=$2\" --root x rage\n\
                      cargo install --path crates/cli\n\
                      npm ci --ignore-scripts --prefix x\n\
                      x/bin/pip install --no-index --no-deps wheels/*.whl\n\
                      need node \"apt-get install nodejs npm\"\n\
                      go build -o x . # not `go install`\n\
                      GOPROXY=\"file://$1\" go get deadpan.example/deadpan@\"$version\"\n";
        assert_eq!(faults(script), [""; 0]);
    }
}
