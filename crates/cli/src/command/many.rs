//! Seals and opens many objects, or long objects in parts: `seal` and `open` use this module for prefixes, and for the
//! files of a folder with `--each`.

mod act;
mod job_report;
pub mod left_out;
mod mirror;
mod readers;

use std::cell::Cell;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde_json::Value;

use crate::key::home::{self, Home};
use crate::place::input::Input;
use crate::place::output::{OutputArgs, Place};
use crate::place::partial::{folder_of, no_folder};
use crate::place::remote;
use crate::tell::console::say;
use crate::tell::failure::{Exit, Failure};
use crate::tell::imp;
use crate::tell::progress::Progress;
use crate::tell::shown::shown;
use crate::tell::signals;
use crate::tell::size::{self, Size};
use act::FolderResults;
pub use act::{OpenedParts, Opening, Sealings};
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{About, trimmed};
use deadpan_fleet::{
    Act, Error, Filter, Job, JobKey, Outcome, Pair, Pattern, Patterns, Place as Many, Rules, Run, Shard, Spot,
    StampKey, Tree, TreeFile,
};
use deadpan_remote::{Address, Problem, Store};
use job_report::{JobReport, SingleReport};
pub use mirror::MirrorArgs;
pub use readers::Readers;

/// The heading of the options for many objects in each command's help.
pub const JOBS: &str = "Many objects (jobs)";
/// The minimum length, in bytes, of an object that the program writes in parts.
pub const LONG: u64 = 64 << 20;
/// The number of bytes of memory for data, if `--max-memory` is not given.
const MEMORY: u64 = 176 << 20;
/// The number of bytes of memory that the program needs besides the data.
const BESIDE: u64 = 48 << 20;
/// The name of the file in the key folder that holds this machine's key for jobs.
pub const KEY: &str = "jobs";

#[derive(Clone, Debug, Default, clap::Args)]
pub struct ManyArgs {
    /// Take each file of a folder by itself, with the same names in the result
    #[arg(long)]
    each: bool,
    /// Take only objects that match a pattern as in .gitignore: *.csv, raw/, /2026/**. May be repeated
    #[arg(long, value_name = "PATTERN", help_heading = JOBS)]
    include: Vec<OsString>,
    /// Change nothing, and show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Limit the bytes per second to and from stores, on average: 1M or more
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Stores")]
    bwlimit: Option<Size>,
    /// The most memory to use [default: 224M]
    #[arg(long, value_name = "SIZE", value_parser = size::parse, help_heading = JOBS)]
    max_memory: Option<Size>,
    /// Do only share I of N, counted from 0; `auto` reads I and N from Kubernetes, AWS Batch, Slurm or Cloud Run
    #[arg(long, value_name = "I/N", value_parser = share, help_heading = JOBS)]
    shard: Option<Share>,
    /// The file with the key that all machines of a job share (deadpan cluster key)
    #[arg(long, value_name = "FILE", help_heading = JOBS)]
    job_key: Option<PathBuf>,
}

/// Parses a rate. Refuses rates below one megabyte per second, because at lower rates a request waits so long that its
/// signature expires.
fn rate(text: &str) -> Result<Size, String> {
    let Size(rate) = size::parse(text)?;
    if rate < 1_000_000 { Err("the least rate is 1MB, a megabyte in a second".to_owned()) } else { Ok(Size(rate)) }
}

/// The value of `--shard`.
#[derive(Clone, Copy, Debug)]
enum Share {
    Auto,
    Given(Shard),
}

fn share(text: &str) -> Result<Share, String> {
    if text == "auto" { Ok(Share::Auto) } else { text.parse().map(Share::Given) }
}

/// A function that returns the settings which must be the same in each run of a job.
pub type Terms<'a> = &'a dyn Fn(&Job) -> Result<Value, Failure>;

/// If the user ends the program early, prints how to continue the work.
fn note_on_going_on(job: Option<&Job>) -> signals::Guard {
    let give_up = job.map_or(String::new(), |job| format!(", or give it up: deadpan cluster clean {job}"));
    signals::notice(move || say(&format!("note: what is done stays done: run the command again to go on{give_up}")))
}

/// The source of many objects, and the target of their results.
pub struct Route {
    from: Many,
    to: Many,
    /// What is left out.
    rules: Rules,
    /// Whether results without a source are removed.
    mirror: MirrorArgs,
}

impl Route {
    /// Removes results without a source after the work, if `mirror` says so.
    pub fn mirrored(self, mirror: MirrorArgs) -> Self {
        Self { mirror, ..self }
    }

    pub fn is_of_folder(&self) -> bool {
        matches!(self.from, Many::Folder(_))
    }
}

impl ManyArgs {
    /// If the first input is a source of many objects (a prefix, or a folder with `--each`), returns the source and the
    /// target. The rules leave out a part of the source.
    pub fn route(&self, files: &[PathBuf], output: &OutputArgs, rules: Rules) -> Result<Option<Route>, Failure> {
        let Some(first) = self.first_of_many(files) else {
            let hint = "name a prefix, such as s3://BUCKET/PREFIX/, or a folder with --each";
            return self.refuse_alone(hint).map(|()| None);
        };
        let first = remote::local(first.clone());
        if files.len() > 1 {
            let message = format!("{} stands for many objects, and there are other inputs", shown(&first));
            let hint = "the place of the results is named with --to; each prefix or folder needs a command of its own";
            return Err(Failure::usage(message, hint));
        }
        let mut from = place(&first)?;
        if let Many::Folder(tree) = &mut from {
            // The full path is used, so that the job has the same name for all paths that lead to the same folder.
            let path = first.canonicalize().map_err(|error| Failure::path("read", &first, &error))?;
            *tree = Tree::new(path);
            tree.open().map_err(|error| match error.kind() {
                ErrorKind::NotADirectory => {
                    let message = format!("{} is a file, and --each takes the files of a folder", shown(tree.path()));
                    Failure::usage(message, "leave out --each")
                }
                _ => Failure::path("read", &first, &error),
            })?;
        }
        let to = match output.place() {
            Some(chosen @ (Place::Given(path) | Place::Sealed(path))) => match place(path)? {
                // With `--force`, a folder of another user is accepted if it exists when the command begins, but not if
                // it appears later.
                Many::Folder(tree) if !output.force || !path.exists() => {
                    output.refuse_planted(chosen)?;
                    let tree = Tree::for_results(tree.path().to_owned());
                    // The folder is opened now, because its path may lead to another folder later. A missing folder is
                    // made together with the first result.
                    tree.hold().map_err(|error| Failure::path("create", tree.path(), &error))?;
                    refuse_missing(&tree)?;
                    Many::Folder(tree)
                }
                Many::Folder(tree) => {
                    let _ = tree.hold();
                    Many::Folder(tree)
                }
                to => to,
            },
            _ => {
                let message = format!("{} stands for many objects, and their results need a place", shown(&first));
                return Err(Failure::usage(
                    message,
                    "name a prefix or a folder with --to, such as s3://BUCKET/PREFIX/",
                ));
            }
        };
        refuse_overlap(&from, &to)?;
        Ok(Some(Route { from, to, rules, mirror: MirrorArgs::default() }))
    }

    pub fn is_each(&self) -> bool {
        self.each
    }

    /// Returns the first input that is a source of many objects: a prefix, or any input with `--each`.
    pub fn first_of_many<'a>(&self, files: &'a [PathBuf]) -> Option<&'a PathBuf> {
        let is_many = |path: &PathBuf| {
            let address = remote::address(path).ok().flatten();
            address.is_some_and(|address| address.is_prefix())
        };
        files.iter().find(|path| self.each || is_many(path))
    }

    /// Refuses options that only apply to many objects.
    pub fn refuse_alone(&self, hint: &str) -> Result<(), Failure> {
        let given = [("--include", !self.include.is_empty()), ("--shard", self.shard.is_some())];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(alone(option, hint)),
            None => Ok(()),
        }
    }

    pub fn is_rehearsal(&self) -> bool {
        self.dry_run
    }

    pub fn is_share(&self) -> bool {
        self.shard.is_some()
    }

    fn shard(&self) -> Result<Shard, Failure> {
        match self.shard {
            None => Ok(Shard::default()),
            Some(Share::Given(shard)) => Ok(shard),
            Some(Share::Auto) => Shard::of_engine(|name| std::env::var(name).ok())
                .map_err(|why| Failure::usage(why, "give the share yourself: --shard I/N")),
        }
    }

    /// Returns the key for jobs: the key that the user chose, or else the user's own key for jobs. If the user has no
    /// key for jobs, makes a new key.
    fn key(&self) -> Result<JobKey, Failure> {
        if self.shard.is_some() && self.job_key.is_none() {
            let hint = "make one with `deadpan cluster key -o job.key`, and give it to all with --job-key";
            return Err(Failure::usage("the shares of a job need one key", hint));
        }
        job_key(self.job_key.as_deref(), !self.dry_run)
    }

    fn memory(&self) -> Result<u64, Failure> {
        let Some(Size(most)) = self.max_memory else { return Ok(MEMORY) };
        most.checked_sub(BESIDE)
            .filter(|left| *left >= 40 << 20)
            .ok_or_else(|| Failure::usage("--max-memory leaves no room for two parts of 16 MiB", "allow at least 88M"))
    }

    /// Seals or opens all objects of the source. The bits of `mask` are removed from the modes of files. `how` returns
    /// the settings that must be the same in each run of the job. If results already exist as files when `seal` begins,
    /// these results must be sealed for `readers`.
    pub fn all(
        &self,
        output: &OutputArgs,
        mask: u32,
        route: &Route,
        act: &dyn Act,
        how: Option<Terms<'_>>,
        readers: Option<&Readers>,
    ) -> Result<Exit, Failure> {
        let include = Patterns::new(self.include.iter().map(|text| Pattern::new(text.as_bytes())));
        let filter = Filter::new(include.into(), route.rules.clone());
        imp::give_back_memory();
        let (Route { from, to, .. }, shard, memory) = (route, self.shard()?, self.memory()?);
        let name = from.to_string();
        let failed = |error: Error| Failure::job(&name, error);
        let stamps = match (from, to, readers) {
            (Many::Folder(_), Many::Folder(_), Some(_)) => self.stamps(route)?,
            _ => None,
        };
        let job = match to {
            Many::Prefix(store, target) => Some(self.job(store, act, &from.text(), target, how)?),
            Many::Folder(_) => None,
        };
        // The command `open` has no settings that must be the same in all runs of a job.
        let agrees = job.clone().filter(|_| how.is_some());
        let is_new = Cell::new(false);
        let begin = || match &agrees {
            Some(job) if self.dry_run => job.check(),
            Some(job) => job.agree().map(|now| is_new.set(now)),
            None => Ok(()),
        };
        // A rehearsal (`--dry-run`) does not change the state of the job.
        let job = job.filter(|_| !self.dry_run);
        let _notice = note_on_going_on(job.as_ref());
        let told = JobReport::new(act.verb(), output, self.dry_run, &name, readers);
        let results = FolderResults { sync: output.sync, mask };
        let run = Run::new(act, &results, &told).filter(filter.clone()).shard(shard).replace(output.force);
        // A short object needs memory of three times its length.
        let run = run.rehearse(self.dry_run).memory(memory).long(LONG.min(memory / 3)).job(job.clone());
        let run = run.stamps(stamps.clone());
        let result = run.all(from, to, begin).map_err(failed);
        if let Some(remark) = act.remark() {
            say(&format!("note: {remark}"));
        }
        match result {
            Ok(()) if told.is_empty() && shard.count() == 1 => {
                let hint =
                    "check the prefix or the folder, and --include and --exclude; only files are sealed, no links";
                let failure = Failure::usage(format!("{name}: there is nothing to {} below it", act.verb()), hint);
                Err(told.end_early(job.as_ref(), is_new.get(), failure))
            }
            Ok(()) => match route.mirror.apply(from, to, act, &filter, stamps.as_ref(), &told) {
                Ok(()) => Ok(told.end(job.as_ref(), shard.count(), is_new.get(), &filter.idle())),
                Err(failure) => Err(told.end_early(job.as_ref(), is_new.get(), failure)),
            },
            Err(failure) => Err(told.end_early(job.as_ref(), is_new.get(), failure)),
        }
    }

    /// Returns the key for the stamps of results in a folder. Without the key, runs compare times only, but `--mirror`
    /// needs the key to recognize the results that it may remove.
    fn stamps(&self, route: &Route) -> Result<Option<StampKey>, Failure> {
        match job_key(self.job_key.as_deref(), !self.dry_run) {
            Ok(key) => Ok(Some(key.stamps().clone())),
            Err(failure) if self.job_key.is_some() || route.mirror.is_given() => Err(failure),
            Err(failure) => {
                say(&format!("note: results are recognized by their times only: {}", failure.message));
                Ok(None)
            }
        }
    }

    fn job(
        &self,
        store: &Store,
        act: &dyn Act,
        source: &str,
        target: &Address,
        how: Option<Terms<'_>>,
    ) -> Result<Job, Failure> {
        let job = Job::new(self.key()?, store.clone(), act.verb(), source, target);
        let job = job.map_err(|error| Failure::job(&shown(source), error))?;
        let how = how.map_or(Ok(Value::Null), |how| how(&job))?;
        Ok(job.how(how))
    }

    /// Makes one long object in parts, and returns the number of bytes. Returns `None` if the input has no name.
    /// Returns `None`, too, if the user's credentials do not allow storing the state of an upload in the store.
    pub fn one(
        &self,
        input: &Input,
        target: &Address,
        replace: bool,
        act: &dyn Act,
        how: Option<Terms<'_>>,
    ) -> Result<Option<u64>, Failure> {
        imp::give_back_memory();
        let Some(source) = spot(input)? else { return Ok(None) };
        let (store, name) = (remote::store(target)?, source.to_string());
        let about = |error: Error| Failure::job(&name, error);
        let job = self.job(&store, act, &source.text(), target, how)?;
        let _notice = note_on_going_on(Some(&job));
        let single = SingleReport { outcome: Mutex::default(), progress: Progress::new(&name, input.length()) };
        let results = FolderResults { sync: false, mask: 0 };
        let run = Run::new(act, &results, &single).memory(self.memory()?).long(LONG).job(Some(job));
        let last = source.text().rsplit('/').next().unwrap_or_default().to_owned();
        let target_spot = Spot::Object(store, target.clone());
        run.one(Pair { name: last, source, target: target_spot, length: LONG, replace }).map_err(about)?;
        let SingleReport { outcome, progress } = single;
        drop(progress);
        match outcome.into_inner() {
            Some(Outcome::Made(bytes)) => Ok(Some(bytes)),
            Some(Outcome::Failed(Error::Store(error)))
                if error.problem() == Problem::Denied && error.address().key().contains(deadpan_fleet::STATE) =>
            {
                Ok(None)
            }
            Some(Outcome::Failed(error)) => Err(about(error)),
            // Another command made the same object while this command worked.
            Some(Outcome::There) => Err(Failure::store(&deadpan_remote::Error::exists(target))),
            _ => Err(about(Error::Lost(format!("{target}: another command is at work on the same object")))),
        }
    }

    pub fn limit(&self) {
        if let Some(Size(rate)) = self.bwlimit {
            deadpan_remote::limit(rate);
        }
    }
}

/// Returns the failure for an option that only applies to many objects.
pub fn alone(option: &str, hint: &str) -> Failure {
    Failure::usage(format!("{option} is for sealing and opening many objects"), hint)
}

/// Returns the place of an input, or `None` if the input has no name.
fn spot(input: &Input) -> Result<Option<Spot>, Failure> {
    Ok(match (input.data.object(), input.source.path()) {
        (Some(object), _) => Some(Spot::Object(remote::store(object.address())?, object.address().clone())),
        (None, Some(path)) => match &input.found.real {
            Some(real) => {
                // The full path is used, so that the job has the same name for all paths that lead to the same file.
                let path = path.canonicalize().map_err(|error| Failure::path("read", path, &error))?;
                let folder = real.folder.clone().named(folder_of(&path));
                Some(Spot::File(TreeFile { tree: Tree::from_folder(folder), name: real.name.clone().into() }))
            }
            None => None,
        },
        (None, None) => None,
    })
}

/// Returns the key for jobs from `file`, or the user's own key for jobs if `file` is `None`. If the user has no key for
/// jobs, makes a new key, and writes it to the key folder if `kept` is true.
pub fn job_key(file: Option<&Path>, kept: bool) -> Result<JobKey, Failure> {
    let home = Home::find()?;
    let own = home.folder.join(KEY);
    let path = file.unwrap_or(&own);
    if file.is_none() && About::of_name(path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        let text = JobKey::generate().map_err(|error| Failure::seal("", error))?;
        if !kept {
            return JobKey::read(&text).map_err(|error| Failure::job("", error));
        }
        home.make_folder_of(path)?;
        // Another run may make the key file at the same time.
        match home::write(path, &line(&text), 0o600, false) {
            Err(failure) if !path.exists() => return Err(failure),
            _ => {}
        }
    }
    let (text, about) = home::text(path)?;
    home::check_private(path, &about);
    JobKey::read(&text).map_err(|error| {
        let hint = "make a key with: deadpan cluster key -o FILE";
        Failure::new(Exit::Data, format!("{}: {error}", shown(path)), hint)
    })
}

pub fn line(text: &[u8]) -> deadpan_seal::Secret {
    let mut line = deadpan_seal::Secret::zeroed(text.len() + 1);
    line[..text.len()].copy_from_slice(text);
    line[text.len()] = b'\n';
    line
}

fn place(path: &Path) -> Result<Many, Failure> {
    match remote::address(path)? {
        None => Ok(Many::Folder(Tree::new(path.to_owned()))),
        Some(address) if address.is_prefix() => Ok(Many::Prefix(remote::store(&address)?, address)),
        Some(_) => {
            let message = format!("{} names one object, and not a prefix", shown(path));
            Err(Failure::usage(message, "let the key end with a slash"))
        }
    }
}

/// Refuses a target in a folder that does not exist: if its disk is not mounted, the results would go to another disk.
fn refuse_missing(to: &Tree) -> Result<(), Failure> {
    let path = trimmed(to.path());
    let is_missing = to.missing().is_some_and(|rest| rest.components().count() > 1);
    if is_missing { Err(no_folder(&path)) } else { Ok(()) }
}

/// Refuses sources that lie inside the target of the results. Otherwise, a second run would treat the results of the
/// first run as sources.
fn refuse_overlap(from: &Many, to: &Many) -> Result<(), Failure> {
    let is_inside = match (from, to) {
        (Many::Prefix(_, from), Many::Prefix(_, to)) => from.is_in_bucket_of(to) && from.key().starts_with(to.key()),
        (Many::Folder(from), Many::Folder(to)) => {
            let real = |tree: &Tree| tree.path().canonicalize().ok();
            // Different paths may lead to the same folder, because it is mounted twice.
            let id = |tree: &Tree| tree.open().and_then(|folder| folder.about()).ok().map(|about| about.id);
            let is_same = id(from).zip(id(to)).is_some_and(|(from, to)| from == to);
            is_same || real(from).zip(real(to)).is_some_and(|(from, to)| from.starts_with(to))
        }
        _ => false,
    };
    if is_inside {
        let message = format!("the sources below {from} lie below {to}, where the results go");
        return Err(Failure::usage(message, "choose another prefix or folder with --to"));
    }
    Ok(())
}
