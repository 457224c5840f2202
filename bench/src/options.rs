//! The command line.

use std::path::PathBuf;

/// The text that `--help` prints.
pub const HELP: &str = "\
usage: scripts/bench [--quick] [--only ct|base64|pad] [--cell SUBSTRING] [--json FILE] [--markdown FILE]

  --quick          fewer rounds and no 64 MiB: at most half a minute of measuring
  --only SECTION   one section; repeat it for two
  --cell TEXT      only cells whose name contains TEXT
  --json FILE      write the results as JSON
  --markdown FILE  write the tables as Markdown

exit: 0 measured (targets met or not), 1 a contestant gave a wrong result, 2 usage or input/output";

/// The options of the command line.
#[derive(Debug, Default)]
pub struct Options {
    /// Take fewer rounds.
    pub quick: bool,
    /// Sections to run. All of them run if the list is empty.
    only: Vec<String>,
    /// Part of the names of the cells to run. All of them run if it is empty.
    pub cell: String,
    /// The file to write JSON to.
    pub json: Option<PathBuf>,
    /// The file to write Markdown to.
    pub markdown: Option<PathBuf>,
    /// The lowered CPU level, if this process is the child that measures it.
    pub ladder: Option<String>,
}

impl Options {
    /// Parses the arguments after the program's name.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--only" => options.only.push(section(value()?)?),
                "--cell" => options.cell = value()?,
                "--json" => options.json = Some(value()?.into()),
                "--markdown" => options.markdown = Some(value()?.into()),
                // The help leaves this option out, since only the program itself passes it.
                "--ladder" => options.ladder = Some(value()?),
                other => return Err(format!("unknown argument {other}")),
            }
        }
        Ok(options)
    }

    /// Whether sections or cells were selected by name.
    pub fn partial(&self) -> bool {
        !self.only.is_empty() || !self.cell.is_empty()
    }

    /// Whether this section is to run.
    pub fn section(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

fn section(name: String) -> Result<String, String> {
    if ["ct", "base64", "pad"].contains(&name.as_str()) { Ok(name) } else { Err(format!("no section {name}")) }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn everything_runs_by_default() {
        let options = parse("").unwrap();
        assert!(options.section("ct") && options.section("pad") && !options.quick);
    }

    #[test]
    fn sections_can_be_picked() {
        let options = parse("--only ct --only pad --quick --cell u64").unwrap();
        assert!(options.section("ct") && options.section("pad") && !options.section("base64") && options.quick);
        assert_eq!(options.cell, "u64");
    }

    #[test]
    fn mistakes_are_refused() {
        for line in ["--only", "--only hex", "--json", "fast"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
