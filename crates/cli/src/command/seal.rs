//! `deadpan seal`: seals files and folders.

mod format;
mod verify;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::command::folder::{
    self, ExcludeArgs, FOLDERS, Gathered, PackArgs, Preview, check_stdin, is_one_pack, root_of,
};
use crate::command::many::{self, ManyArgs, MirrorArgs, Readers, Route, Sealings};
use crate::command::plan::Plan;
use crate::command::repair::sidecar::{self, Draft};
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::passphrase::Passphrases;
use crate::key::recipient::{NamedRecipients, RecipientArgs, Recipients};
use crate::key::signed::SigningArgs;
use crate::place::armor::{Armor, ArmorAt};
use crate::place::claims::Claims;
use crate::place::ending::PAGE;
use crate::place::input::{Input, Source};
use crate::place::level::LevelArgs;
use crate::place::output::{Output, OutputArgs, Place};
use crate::place::page::Page;
use crate::place::partial::Attributes;
use crate::place::remote;
use crate::place::report::{Done, Report};
use crate::place::sealed::looks_sealed;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::progress::Progress;
use crate::tell::shown::{count, shown};
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::umask;
use deadpan_files::PackSource;
use deadpan_fleet::Job;
use deadpan_pack::{Packer, Rules};
use deadpan_remote::Address;
use deadpan_repair::Percent;
use deadpan_seal::{Error, Kind, Metadata, Sealing, Summary, Work, WriteAt, age, key};
pub use format::FormatArg;
use verify::Removal;

/// Seals files and folders: FILE becomes FILE.dpn, and only the recipients can open it
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan seal report.pdf                   to yourself; makes a key if you have none",
    "deadpan seal -r alice -r bob.pub *.pdf    to Alice, a contact, and to the key in bob.pub",
    "deadpan seal -p -o notes.dpn notes.txt    with a passphrase",
    "deadpan seal --any 2 -r alice -r bob -r carol minutes.txt   any two of the three open it together",
    "deadpan seal photos                       a folder with everything in it: photos.dpn",
    "deadpan seal -o both.dpn photos notes.txt  several inputs in one file",
    "deadpan seal --exclude '*.tmp' --gitignore src          a folder without what matches, and what git ignores",
    "deadpan seal --dry-run --exclude-larger 10M src         shows what would go in",
    "deadpan seal -z -o small.dpn photos       compressed",
    "deadpan seal --repair photos              with recovery data, photos.dpn.dpr (deadpan repair)",
    "deadpan seal --format age -r alice a.txt  a.txt.age, which age and rage open, too",
    "deadpan seal --html -p report.pdf         report.pdf.html, a page that opens itself in a browser",
    "deadpan seal --sign -r alice report.pdf   signed with your key, so that Alice knows who sealed it",
    "tar c folder | deadpan seal > folder.dpn  through pipes",
    "deadpan seal --each photos --to s3://backup/photos/   each file for itself, into a store; again: only what is new",
    "deadpan seal --each --force --mirror --yes photos --to sealed   a mirror: results without a source are removed"
))]
pub struct SealArgs {
    #[command(flatten)]
    to: RecipientArgs,
    #[command(flatten)]
    signing: SigningArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Write text (PEM) instead of bytes
    #[arg(short, long)]
    armor: bool,
    /// Write a page that opens itself in a browser, FILE.html. For people who have no Deadpan [default: if OUT ends
    /// with .html, without --armor and --format]
    #[arg(long)]
    html: bool,
    /// The format of the sealed file. age files hold the data alone, without a name or a time, and many programs open
    /// them [default: age if OUT ends with .age, otherwise deadpan]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<FormatArg>,
    /// Pad the data, so that the sealed file reveals little about their length; adds up to 12 %
    #[arg(long)]
    hide_length: bool,
    #[command(flatten)]
    compress: LevelArgs,
    /// Also make recovery data for the sealed file, FILE.dpn.dpr: N hundredths of its length [default: 10]. See
    /// `deadpan repair`
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    repair: Option<Percent>,
    /// Remove FILE after the sealed file was written to the disk, opened again and compared with FILE
    #[arg(long)]
    remove_source: bool,
    #[command(flatten)]
    pack: PackArgs,
    #[command(flatten)]
    exclude: ExcludeArgs,
    /// Seal the files and folders that FILE lists, one path on each line or before each NUL, with the folders in their
    /// paths; - is standard input. May be repeated
    #[arg(long, value_name = "FILE", help_heading = FOLDERS)]
    files_from: Vec<PathBuf>,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    mirror: MirrorArgs,
    /// The files and folders to seal; with -o OUT, several of them go into one file; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A validated `deadpan seal` command.
pub struct Seal {
    args: SealArgs,
    sources: Vec<Source>,
    route: Option<Route>,
    /// What is left out of folders.
    rules: Rules,
    /// Whether all inputs go into one file.
    is_one: bool,
}

impl SealArgs {
    pub fn is_to_stdout(&self) -> bool {
        let reads = self.files_from.is_empty() && Source::reads_stdin(&self.files);
        (reads || self.output.is_stdout()) && !self.many.is_rehearsal()
    }

    /// Whether the sealed data go to standard output, because of `-o -` or because there is no other place for them.
    fn is_to_stream(&self) -> bool {
        self.output.is_stdout() || self.is_to_stdout() && self.output.place().is_none()
    }

    pub fn plan(mut self) -> Result<Seal, Failure> {
        self.to.imply_passphrase(self.remove_source);
        self.to.check()?;
        self.check_format()?;
        self.many.limit();
        check_stdin(&self.files, &self.files_from, self.exclude.files())?;
        let is_listed = !self.files_from.is_empty();
        let sources = if is_listed { Vec::new() } else { Source::all(self.files.clone())? };
        let reads_list = self.files_from.iter().chain(self.exclude.files()).any(|file| file == Path::new("-"));
        let read: Vec<_> = sources.iter().cloned().chain(reads_list.then_some(Source::Stdin)).collect();
        self.to.leave_stdin_to(&read)?;
        self.signing.refuse_key_as_file(&sources)?;
        let is_many = self.many.first_of_many(&self.files).is_some();
        if is_listed && is_many {
            return Err(Failure::usage(
                "--files-from lists files for one sealed file",
                "leave it out, or leave out --each",
            ));
        }
        if is_listed && self.output.place().is_none_or(|place| place.is_folder()) {
            return Err(Failure::usage("--files-from needs a name for the sealed file", "name it with -o OUT"));
        }
        let is_one = !is_many && is_one_pack(&self.files, &self.files_from, &self.output);
        if !is_one && !is_many {
            self.exclude.check(&sources)?;
        }
        let rules = self.exclude.rules()?;
        let route = self.many.route(&self.files, &self.output, rules.clone())?;
        let is_of_folder = route.as_ref().is_some_and(Route::is_of_folder);
        self.mirror.check(is_of_folder, self.many.is_share(), self.many.is_rehearsal())?;
        let route = route.map(|route| route.mirrored(self.mirror.clone()));
        if route.is_some() {
            self.pack.refuse_alone()?;
        }
        if route.is_some() && self.html {
            let hint = "leave out --html; --armor writes text";
            return Err(Failure::usage("--html takes single files, since each page is longer than most files", hint));
        }
        if route.is_some() && self.remove_source {
            let hint = "remove the sources yourself when all results are there: run the command again to see it";
            return Err(Failure::usage("--remove-source takes single files", hint));
        }
        let is_remote = || self.output.place().and_then(Place::path).is_some_and(remote::is_address);
        if self.repair.is_some() && (route.is_some() || self.is_to_stream() || is_remote()) {
            return Err(Failure::usage(
                "--repair needs a file as output, and not a stream, a tree or a store",
                "name a file with -o; for files that are there: deadpan repair make FILE...",
            ));
        }
        let to_stdout = self.output.is_stdout();
        if is_one && self.remove_source {
            return Err(Failure::usage(
                "--remove-source takes single files, and several inputs go into one",
                "remove the inputs yourself when the sealed file is where it should be",
            ));
        }
        if self.remove_source && (to_stdout || sources.contains(&Source::Stdin)) {
            return Err(Failure::usage(
                "--remove-source needs a file as input and a file as output",
                "sealed data that went into a pipe cannot be opened again to check them",
            ));
        }
        Ok(Seal { args: self, sources, route, rules, is_one })
    }
}

impl SealArgs {
    /// Refuses options that the format of age files does not support.
    fn check_format(&self) -> Result<(), Failure> {
        if self.format() == FormatArg::Age && self.html {
            return Err(Failure::usage(
                "--html needs Deadpan's own format: a page holds no age file",
                "leave out --html, or choose --format deadpan",
            ));
        }
        if self.format() == FormatArg::Age && self.signing.is_given() {
            return Err(Failure::usage(
                "age files cannot be signed inside",
                "leave out --sign, and sign the sealed file: deadpan sign FILE.age; or choose --format deadpan",
            ));
        }
        if self.format() == FormatArg::Age && self.hide_length {
            return Err(Failure::usage(
                "--hide-length needs Deadpan's own format: an age file shows the length of its data",
                "leave out --hide-length, or choose --format deadpan",
            ));
        }
        if self.format() == FormatArg::Age && self.compress.get().is_some() {
            return Err(Failure::usage(
                "--compress needs Deadpan's own format: an age file cannot say that its data are compressed",
                "leave out --compress, and compress before: zstd < FILE | deadpan seal --format age -o OUT.zst.age",
            ));
        }
        if self.format() == FormatArg::Age && self.to.needs_several() {
            return Err(Failure::usage(
                "--any needs Deadpan's own format: each recipient of an age file opens it alone",
                "leave out --any, or choose --format deadpan",
            ));
        }
        Ok(())
    }

    fn refuse_terminal(&self, output: &Output) -> Result<(), Failure> {
        if !output.is_terminal() || self.armor && !self.is_html() {
            return Ok(());
        }
        let what = if self.is_html() { "a page is for browsers" } else { "sealed data are bytes" };
        let hint = "name a file with -o, send it to another program, or ask for text with --armor";
        Err(Failure::usage(format!("{what}, and a terminal shows text"), hint))
    }

    /// Returns the recipients, with the options that apply to every file. `what` is the purpose of a new passphrase, as
    /// text.
    fn resolve(
        &self,
        named: &NamedRecipients,
        what: &str,
        home: &Home,
        passphrases: &Passphrases,
    ) -> Result<Recipients, Failure> {
        let mut to = self.to.resolve(named, what, home, passphrases, self.many.is_rehearsal())?;
        if self.format() == FormatArg::Deadpan {
            to.refuse_ssh()?;
        }
        to.sealing = to.sealing.format(self.format().into()).map_err(|error| Failure::seal("", error))?;
        to.tell_if_others(home)?;
        if let (true, Some(key)) = (self.is_html() && io::stderr().is_terminal(), &to.default_key) {
            // A page is for people without Deadpan, who do not have this key.
            say(&format!("note: only your own key {key} opens the page; add a passphrase (-p) or recipients (-r)"));
        }
        to.sealing = self.signing.add(to.sealing, home, passphrases)?.hide_length(self.hide_length);
        if let Some(level) = self.compress.get() {
            to.sealing = to.sealing.compress(level);
        }
        Ok(to)
    }

    /// Returns the settings that must be the same in each run of a job.
    fn how(&self, to: &Recipients, job: &Job) -> Result<Value, Failure> {
        let mut keys: Vec<_> = to.keys.iter().map(key::fingerprint).collect();
        keys.sort();
        let passphrase = to.passphrase.as_ref().map(|passphrase| job.mark(passphrase)).transpose();
        let mut how = json!({
            "recipients": keys,
            "threshold": to.needed,
            "passphrase": passphrase.map_err(|error| Failure::seal("", error))?,
            "format": self.format().ending(),
            "armor": self.armor,
            "hidden length": self.hide_length,
            "other recipients": to.others,
            "signature": self.signing.how(),
        });
        if let Some(level) = self.compress.get() {
            how["compression"] = json!(level.number());
        }
        Ok(how)
    }

    fn act<'a>(&self, to: &'a Recipients, readers: Option<&'a Readers>) -> Sealings<'a> {
        let turn = to.passphrase.as_ref().map(|_| Mutex::default());
        Sealings { sealing: &to.sealing, format: self.format(), armor: self.armor, turn, readers }
    }

    /// Whether the output is a page that holds the sealed file.
    fn is_html(&self) -> bool {
        let is_page = |path: &Path| path.as_os_str().as_encoded_bytes().ends_with(PAGE.as_bytes());
        let is_chosen = self.armor || self.format.is_some();
        self.html || !is_chosen && matches!(self.output.place(), Some(Place::Given(path)) if is_page(path))
    }

    fn is_text(&self) -> bool {
        self.armor || self.is_html()
    }

    /// Returns the extension of an output that has no name of its own.
    fn ending(&self) -> &'static str {
        if self.is_html() { PAGE } else { self.format().ending() }
    }

    /// Writes the output of the function `seal`, in armor or in a page if the user wants text.
    fn write<T>(
        &self,
        output: &Output,
        seal: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut output = output.writer();
        if self.is_html() {
            return Page::own().around(&mut output, |output| armored(FormatArg::Deadpan, output, seal));
        }
        if self.armor { armored(self.format(), &mut output, seal) } else { seal(&mut *output) }
    }

    /// Writes the output of the function `seal` to the positions of a file, in armor or in a page if the user wants
    /// text. The function `seal` also returns the length of its output.
    fn write_at<T>(
        &self,
        file: &File,
        seal: impl FnOnce(&dyn WriteAt) -> Result<(Summary, T), Error>,
    ) -> Result<(Summary, T), Error> {
        if !self.is_text() {
            return seal(file);
        }
        let page = self.is_html().then(Page::own);
        let (front, rear) = page.as_ref().map_or((&[][..], &[][..]), |page| (page.front(), Page::REAR));
        let armor = ArmorAt::begin(file, front)?;
        let (summary, done) = seal(&armor)?;
        armor.finish(summary.sealed, rear).map_err(Error::Write)?;
        Ok((summary, done))
    }

    /// Returns the file to write to at positions. Returns `None` for an output that is no file, and for armor of age.
    fn positions<'a>(&self, output: &'a Output) -> Option<&'a File> {
        output.positions().filter(|_| !self.is_text() || self.format() == FormatArg::Deadpan)
    }

    /// Returns the format that the user chose, or else the format that belongs to the extension of the output.
    fn format(&self) -> FormatArg {
        self.format.unwrap_or_else(|| match self.output.place() {
            Some(Place::Given(path)) => FormatArg::of_name(path),
            _ => FormatArg::Deadpan,
        })
    }
}

impl Plan for Seal {
    fn run(&self) -> Result<Exit, Failure> {
        let args = &self.args;
        if let Some(route) = &self.route {
            return self.many(route);
        }
        args.output.hold(&self.sources);
        let results = if self.is_one { 1 } else { self.sources.len() };
        args.output.check_room(results)?;
        let mut report = Report::new("seal", args.output.json, results).aside(args.is_to_stdout());
        let claims = Claims::on(&self.sources);
        if args.many.is_rehearsal() {
            if args.to.is_given() {
                args.to.find(&Home::find()?)?;
            }
            return self.show(report.rehearsing(), &claims);
        }
        let named = args.to.find(&Home::find()?)?;
        if self.is_one {
            let start = Instant::now();
            report.made(&self.inputs(), start, &self.seal_all(&named, &claims));
            return Ok(report.exit());
        }
        let mut job: Option<SealJob<'_>> = None;
        for source in &self.sources {
            let start = Instant::now();
            let result = match (self.prepare(source, &claims), &mut job) {
                (Ok(prepared), Some(job)) => job.seal(prepared),
                // The first input is opened before the program asks for a passphrase or makes a key.
                (Ok(prepared), None) => job.insert(SealJob::begin(args, &self.rules, &named, &claims)?).seal(prepared),
                (Err(failure), _) => Err(failure),
            };
            report.add(source, start, &result);
        }
        Ok(report.exit())
    }
}

impl Seal {
    fn many(&self, route: &Route) -> Result<Exit, Failure> {
        let args = &self.args;
        let home = Home::find()?;
        let (named, passphrases) = (args.to.find(&home)?, Passphrases::new(&args.to.source));
        let to = args.resolve(&named, "the sealed files", &home, &passphrases)?;
        let how = |job: &Job| args.how(&to, job);
        let own = Identities::collect(&[], &home, passphrases)?;
        let readers = Readers::new(&to, own, &args.to.as_of_rewrap(to.default_key.as_deref()));
        args.many.all(&args.output, umask(), route, &args.act(&to, Some(&readers)), Some(&how), Some(&readers))
    }

    /// Shows what would go in, and writes nothing.
    fn show(&self, mut report: Report, claims: &Claims) -> Result<Exit, Failure> {
        if self.is_one {
            let start = Instant::now();
            report.made(&self.inputs(), start, &self.show_all(claims));
        }
        for source in self.sources.iter().filter(|_| !self.is_one) {
            let start = Instant::now();
            report.add(source, start, &self.show_one(source, claims));
        }
        Ok(report.exit())
    }

    fn show_one(&self, source: &Source, claims: &Claims) -> Result<Done, Failure> {
        let args = &self.args;
        let input = Input::open(source)?;
        let place = args.output.file(|| usual_place(&input, args.ending()))?;
        claims.check(&place, source)?;
        let mut preview = Preview::new("seal", args.output.json, &place);
        let path = source.path().unwrap_or(Path::new("-"));
        if !input.is_folder() {
            preview.file(path, input.length())?;
            return preview.sum().map(|()| Done::default());
        }
        let mut packer = args.pack.packer(&input, None, self.rules.clone())?;
        preview.pack(folder::name_of(path)?.as_bytes(), &mut packer)?;
        preview.end(&input.shown(), &packer, &self.rules)
    }

    fn show_all(&self, claims: &Claims) -> Result<Done, Failure> {
        let (inputs, place) = self.gathered(claims)?;
        let root = root_of(&place);
        let mut packer = self.args.pack.gather(inputs, &root, None, self.rules.clone())?;
        let mut preview = Preview::new("seal", self.args.output.json, &place);
        preview.pack(root.as_bytes(), &mut packer)?;
        preview.end(&shown(&root), &packer, &self.rules)
    }

    /// Opens the inputs that go into one file, and returns the place of the result.
    fn gathered(&self, claims: &Claims) -> Result<(Gathered, Place), Failure> {
        let args = &self.args;
        let inputs = Gathered::open(&args.files, &args.files_from)?;
        let place = args.output.file(|| Err(Failure::usage("the sealed file has no name", "name it with -o OUT")))?;
        claims.check(&place, &Source::Stdin)?;
        Ok((inputs, place))
    }

    /// Returns a name for the inputs that go into one file.
    fn inputs(&self) -> String {
        let listed = if self.args.files_from.is_empty() { "" } else { "the listed files" };
        match self.args.files.len() as u64 {
            0 => listed.to_owned(),
            number if listed.is_empty() => count(number, "input", "inputs"),
            number => format!("{} and {listed}", count(number, "input", "inputs")),
        }
    }

    /// Seals several inputs into one file.
    fn seal_all(&self, named: &NamedRecipients, claims: &Claims) -> Result<Done, Failure> {
        let args = &self.args;
        let (inputs, place) = self.gathered(claims)?;
        let output = args.output.open(&place, None)?;
        args.refuse_terminal(&output)?;
        let draft = self.draft(&output, &place, None, &Source::Stdin, claims)?;
        let root = root_of(&place);
        let metadata = Metadata {
            kind: Kind::Folder,
            name: portable(root.as_bytes()),
            modified: inputs.modified(),
            mode: Some(0o755),
        };
        let packer = args.pack.gather(inputs, &root, Some(&output), self.rules.clone())?;
        let job = SealJob::begin(args, &self.rules, named, claims)?;
        let name = shown(&root);
        let sealing = job.to.sealing.clone().metadata(metadata).map_err(|error| Failure::seal(&name, error))?;
        let progress = Progress::new(&name, None).hidden_if(output.is_terminal());
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        let done = job.folder(&sealing, packer, &name, &output, &work)?;
        drop(progress);
        let place = job.land(output, draft, args.output.sync)?;
        Ok(Done { output: Some(place), default_key: job.to.default_key.clone(), ..done })
    }

    /// Opens the input and the output. Returns an error for combinations of input and output that cannot work.
    fn prepare(&self, source: &Source, claims: &Claims) -> Result<Prepared, Failure> {
        let args = &self.args;
        let mut input = Input::open(source).map_err(|failure| args.to.advise(source, failure))?;
        if args.remove_source {
            input = input.file_only(
                "--remove-source takes files only: remove the folder yourself when the sealed file is \
                    where it should be",
            )?;
            verify::check(&input)?;
        }
        let place = args.output.file(|| usual_place(&input, args.ending()))?;
        claims.check(&place, source)?;
        if let Some(target) = self.divided(&input, &place)? {
            return Ok(Prepared::Divided(input, target, place));
        }
        let output = args.output.open(&place, Some(&input))?;
        args.refuse_terminal(&output)?;
        if args.remove_source && !output.is_positioned() {
            let message = format!(
                "nothing was sealed: the output {} cannot be opened again to check it before the source is removed",
                output.shown()
            );
            return Err(Failure::usage(message, "name a file with -o, or leave out --remove-source"));
        }
        let draft = self.draft(&output, &place, Some(&input), source, claims)?;
        Ok(Prepared::Whole(input, output, draft))
    }

    /// Opens the output for the recovery data of `output`, if the user wants recovery data.
    fn draft(
        &self,
        output: &Output,
        place: &Place,
        input: Option<&Input>,
        source: &Source,
        claims: &Claims,
    ) -> Result<Option<Box<Draft>>, Failure> {
        let args = &self.args;
        let Some(percent) = args.repair else { return Ok(None) };
        if !output.is_positioned() {
            let message = format!("--repair needs a file as output, and {} is none", output.shown());
            return Err(Failure::usage(message, "name a file with -o, or leave out --repair"));
        }
        let place = Place::Given(sidecar::beside(place.path().unwrap_or("-".as_ref()), sidecar::ENDING));
        claims.check(&place, source)?;
        Draft::open(&args.output, &place, input, percent).map(|draft| Some(Box::new(draft)))
    }

    /// If the result is written in parts, so that another run can continue after an interruption, returns the address
    /// of the result.
    fn divided(&self, input: &Input, place: &Place) -> Result<Option<Address>, Failure> {
        let args = &self.args;
        let is_divided = args.format() == FormatArg::Deadpan
            && !(args.is_text() || args.signing.is_given() || args.compress.get().is_some() || args.remove_source)
            && args.repair.is_none()
            && input.positioned
            && input.source.path().is_some_and(|path| path.to_str().is_some())
            && input.length().is_some_and(|length| length >= many::LONG);
        let address = place.path().filter(|_| is_divided).map_or(Ok(None), remote::address)?;
        let Some(address) = address.filter(|address| !address.is_prefix()) else { return Ok(None) };
        remote::refuse_existing(&address, args.output.force)?;
        Ok(Some(address))
    }
}

/// An input and the place of its result.
enum Prepared {
    /// The draft is that of the recovery data.
    Whole(Input, Output, Option<Box<Draft>>),
    /// The result is made in parts.
    Divided(Input, Address, Place),
}

struct SealJob<'a> {
    args: &'a SealArgs,
    rules: &'a Rules,
    claims: &'a Claims,
    to: Recipients,
    removal: Option<Removal>,
}

impl<'a> SealJob<'a> {
    fn begin(
        args: &'a SealArgs,
        rules: &'a Rules,
        named: &NamedRecipients,
        claims: &'a Claims,
    ) -> Result<Self, Failure> {
        let home = Home::find()?;
        let passphrases = Passphrases::new(&args.to.source);
        let to = args.resolve(named, "the sealed file", &home, &passphrases)?;
        let removal = if args.remove_source { Some(Removal::prepare(&home, passphrases, &to)?) } else { None };
        Ok(Self { args, rules, claims, to, removal })
    }

    fn seal(&mut self, prepared: Prepared) -> Result<Done, Failure> {
        match prepared {
            Prepared::Whole(input, output, draft) => self.whole(&input, output, draft),
            Prepared::Divided(input, target, place) => {
                let args = self.args;
                let how = |job: &Job| args.how(&self.to, job);
                let act = args.act(&self.to, None);
                let done = args.many.one(&input, &target, args.output.force, &act, Some(&how))?;
                let Some(bytes) = done else {
                    say(&format!(
                        "note: this key may not keep the state of an upload in {}, so it is not resumed",
                        place.shown()
                    ));
                    return self.whole(&input, args.output.open(&place, Some(&input))?, None);
                };
                self.claims.made(&place);
                Ok(Done { output: Some(place), bytes, default_key: self.to.default_key.clone(), ..Done::default() })
            }
        }
    }

    fn whole(&mut self, input: &Input, output: Output, draft: Option<Box<Draft>>) -> Result<Done, Failure> {
        let sealing = self.sealing(input)?;
        input.announce();
        let done = self.transform(&sealing, input, &output)?;
        let remark = match (&mut self.removal, &output) {
            (Some(removal), Output::Partial { partial, .. }) => {
                partial.sync()?;
                removal.verify(input, partial.file())?;
                Some("compared, source removed".to_owned())
            }
            _ => None,
        };
        let is_outdated = draft.is_none();
        let place = self.land(output, draft, self.args.output.sync || self.args.remove_source)?;
        if self.removal.is_some() {
            verify::remove(input)?;
        }
        let mut done = done;
        done.notes.extend(folder::outside(input, &place, &self.args.output));
        done.notes.extend(place.path().filter(|_| is_outdated).and_then(sidecar::outdated));
        let file = input.file().filter(|_| input.positioned);
        if file.is_some_and(|file| looks_sealed(file).unwrap_or(false)) {
            done.notes.push(format!("{} was sealed already, and is sealed twice now", input.shown()));
        }
        Ok(Done { output: Some(place), remark, default_key: self.to.default_key.clone(), ..done })
    }

    /// Gives the output its name. Makes the recovery data before, if the user wants them.
    fn land(&self, output: Output, draft: Option<Box<Draft>>, sync: bool) -> Result<Place, Failure> {
        // The sealed file was just written, so it is read from memory. While it was sealed, its length was not always
        // known, and without the length, nobody knows which of its parts belong together.
        if let (Some(draft), Some(file)) = (&draft, output.positions()) {
            let length = file.metadata().map_err(|error| Failure::io("read", &output.shown(), &error))?.len();
            draft.make(file, length, &output.shown())?;
        }
        let place = match draft {
            None => output.land(Attributes::usual(), sync)?,
            Some(draft) => {
                let beside = draft.place().clone();
                let place = draft.land_with(output, sync)?;
                self.claims.made(&beside);
                place
            }
        };
        self.claims.made(&place);
        Ok(place)
    }

    /// Returns the settings for sealing this input: the recipients, and the metadata that are sealed with the data.
    fn sealing(&self, input: &Input) -> Result<Sealing, Failure> {
        let sealing = self.to.sealing.clone().metadata(metadata(input)?);
        sealing.map_err(|error| Failure::seal(&input.shown(), error))
    }

    /// Seals the input. Returns the number of bytes. For a folder, also returns the packer's notes.
    fn transform(&self, sealing: &Sealing, input: &Input, output: &Output) -> Result<Done, Failure> {
        let progress = self.args.pack.progress(input, self.rules);
        let progress = progress.hidden_if(input.is_terminal() || output.is_terminal());
        let add = |bytes| progress.add(bytes);
        let work = Work { progress: Some(&add), ..Work::default() };
        if input.is_folder() {
            let packer = self.args.pack.packer(input, Some(output), self.rules.clone())?;
            return self.folder(sealing, packer, &input.shown(), output, &work);
        }
        let summary = match (input.file().filter(|_| input.positioned), self.args.positions(output)) {
            (Some(from), Some(to)) => self.args.write_at(to, |to| {
                let length = from.metadata().map_err(Error::Read)?.len();
                sealing.seal_at(from, length, &to, &work).map(|summary| (summary, ()))
            }),
            _ => self
                .args
                .write(output, |to| sealing.seal_stream(input.reader(), to, &work).map(|summary| (summary, ()))),
        };
        let (summary, ()) = summary.map_err(|error| Failure::blame(error, &input.shown(), &output.shown()))?;
        let now = input.file().filter(|_| input.positioned).and_then(|file| file.metadata().ok());
        let grew = now.is_some_and(|now| now.len() > summary.plain);
        let note = || {
            format!("{} grew while it was sealed; the sealed file has the contents up to its old length", input.shown())
        };
        Ok(Done { bytes: summary.plain, notes: grew.then(note).into_iter().collect(), ..Done::default() })
    }

    /// Seals a folder, or several inputs in one pack. `name` is the name for messages.
    fn folder(
        &self,
        sealing: &Sealing,
        packer: Packer,
        name: &str,
        output: &Output,
        work: &Work<'_>,
    ) -> Result<Done, Failure> {
        let source = PackSource(packer);
        let sealed = match self.args.positions(output) {
            Some(to) => self.args.write_at(to, |to| sealing.gather_at(source, &to, work)),
            None => self.args.write(output, |to| sealing.gather(source, to, work)),
        };
        let (_, PackSource(packer)) = sealed.map_err(|error| folder::blame(error, name, &output.shown()))?;
        let mut done = Done { bytes: packer.size(), ..folder::outcome(name, &packer.notes()) };
        folder::tell(&mut done, self.rules, &packer);
        Ok(done)
    }
}

/// Returns the metadata that are sealed with an input's data: the input's kind, name, time and mode.
pub fn metadata(input: &Input) -> Result<Metadata, Failure> {
    let named = input.source.path().filter(|_| input.length().is_some() || input.is_folder());
    let Some(path) = named else { return Ok(Metadata::default()) };
    let about = input.about;
    Ok(Metadata {
        kind: if input.is_folder() { Kind::Folder } else { Kind::File },
        name: portable(folder::name_of(path)?.as_encoded_bytes()),
        modified: match input.data.object() {
            Some(object) => Some(object.modified()),
            None => about.map(|about| about.modified_at()),
        },
        mode: about.map(|about| about.mode),
    })
}

/// Returns the name to seal with the data. On Windows, a backslash separates folders, so the function returns `None`
/// for a name with a backslash.
pub fn portable(name: &[u8]) -> Option<Vec<u8>> {
    (!name.contains(&b'\\')).then(|| name.to_vec())
}

/// Writes the output of the function `seal` in armor, which is text.
pub fn armored<T>(
    format: FormatArg,
    output: impl Write + Send,
    seal: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>,
) -> Result<T, Error> {
    if format == FormatArg::Age {
        let mut armor = age::armor::ArmorWriter::new(BufWriter::with_capacity(1 << 18, output));
        let done = seal(&mut armor)?;
        armor.finish().map_err(Error::Write)?;
        return Ok(done);
    }
    let mut armor = Armor::new(output);
    let done = seal(&mut armor)?;
    armor.finish().map_err(Error::Write)?;
    Ok(done)
}

/// If `-o` is missing, returns the place of the output: a path beside the input, with the extension `ending`. Data from
/// standard input go to standard output.
fn usual_place(input: &Input, ending: &str) -> Result<Place, Failure> {
    match input.source.path() {
        None => Ok(Place::Stdout),
        Some(path) if input.is_folder() => folder::beside(path, ending).map(Place::Given),
        Some(path) => {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            Ok(Place::Given(name.into()))
        }
    }
}
