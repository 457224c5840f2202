//! `deadpan page`: writes the page that opens and seals files in a browser.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;

use crate::command::plan::Plan;
use crate::place::output::{OutputArgs, Place};
use crate::place::page;
use crate::place::partial::Attributes;
use crate::place::report::{Done, Report};
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::streams::print;

/// The usual name of the page.
const NAME: &str = "deadpan.html";

/// Writes a page that opens and seals files in a browser, without a network
#[derive(Debug, clap::Args)]
#[command(mut_arg("output", |output| {
    output.help("Where the page goes: a file, a folder, - for standard output, or an object in a store [default: \
        deadpan.html]")
}))]
#[command(after_help = help!(
    "deadpan page                        deadpan.html, for people who have no Deadpan",
    "deadpan page -o www/index.html      for a web server",
    "deadpan page --hash                 the page's SHA-256, with which sha256sum -c checks a copy",
    "deadpan seal --html -p report.pdf   the page with a sealed file in it"
))]
pub struct PageArgs {
    #[command(flatten)]
    output: OutputArgs,
    /// Print the SHA-256 of the page in the form of sha256sum, and write no page
    #[arg(long, conflicts_with_all = ["output", "sync", "force", "json"])]
    hash: bool,
}

pub struct WritePage {
    args: PageArgs,
}

impl PageArgs {
    pub fn is_to_stdout(&self) -> bool {
        self.output.is_stdout()
    }

    pub fn plan(self) -> Result<WritePage, Failure> {
        Ok(WritePage { args: self })
    }
}

impl Plan for WritePage {
    fn run(&self) -> Result<Exit, Failure> {
        if self.args.hash {
            return print(&format!("{}  {NAME}\n", page::sha256(page::own()))).map(|()| Exit::Done);
        }
        let start = Instant::now();
        let mut report = Report::new("page", self.args.output.json, 1).aside(self.args.is_to_stdout());
        report.made("the page", start, &self.make());
        Ok(report.exit())
    }
}

impl WritePage {
    fn make(&self) -> Result<Done, Failure> {
        let place = self.args.output.file(|| Ok(Place::Given(PathBuf::from(NAME))))?;
        let output = self.args.output.open(&place, None)?;
        if output.is_terminal() {
            let hint = "name a file with -o, or send it to another program";
            return Err(Failure::usage("a page is for browsers, and a terminal shows text", hint));
        }
        let page = page::own();
        output.writer().write_all(page).map_err(|error| Failure::io("write", &output.shown(), &error))?;
        let place = output.land(Attributes::usual(), self.args.output.sync)?;
        let more = [("sha256".to_owned(), json!(page::sha256(page)))].into_iter().collect();
        Ok(Done { output: Some(place), bytes: page.len() as u64, more, ..Done::default() })
    }
}
