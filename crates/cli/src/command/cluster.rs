//! `deadpan cluster`: commands for jobs that run on several machines.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::command::many::{job_key, line};
use crate::command::plan::Plan;
use crate::key::home;
use crate::place::output::{OutputArgs, Place};
use crate::place::remote;
use crate::tell::failure::{Exit, Failure, help};
use crate::tell::shown::{count, shown};
use crate::tell::streams::{print, print_json};
use deadpan_fleet::{Cleaned, Job, JobKey};
use deadpan_remote::{Address, Words};

/// Shows and removes what jobs left in a store, and makes keys for jobs
#[derive(Debug, clap::Args)]
#[command(after_help = help!(
    "deadpan cluster key -o job.key            the key that all machines of a job share, as a secret",
    "deadpan cluster status s3://backup        what is not done yet, in all jobs of a bucket",
    "deadpan cluster clean s3://backup/_deadpan/3f0c…/   gives a job up: its parts are removed, results stay"
))]
pub struct ClusterArgs {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ClusterCommand {
    /// Makes the key that all machines of one job share
    Key(KeyArgs),
    /// Shows the unfinished work of a job, or of all jobs in a bucket
    Status(JobArgs),
    /// Gives a job up: ends its uploads, and removes its state. Results stay
    Clean(CleanArgs),
}

#[derive(Debug, clap::Args)]
struct CleanArgs {
    #[command(flatten)]
    of: JobArgs,
    /// Also remove state that belongs to another key. The store keeps the uploaded parts of these jobs
    #[arg(short, long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
struct KeyArgs {
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct JobArgs {
    /// The job, as seal and open print it: s3://BUCKET/_deadpan/JOB/; a bucket alone stands for all its jobs
    #[arg(value_name = "JOB")]
    job: PathBuf,
    /// The file with the job's key [default: your own]
    #[arg(long, value_name = "FILE", help_heading = crate::command::many::JOBS)]
    job_key: Option<PathBuf>,
    /// Print the results as JSON, one object per line
    #[arg(long)]
    json: bool,
}

pub enum Cluster {
    Key { place: PathBuf, force: bool },
    Status { bucket: Address, key: Option<PathBuf>, json: bool },
    Clean { bucket: Address, key: Option<PathBuf>, json: bool, force: bool },
}

impl ClusterArgs {
    pub fn plan(self) -> Result<Cluster, Failure> {
        let address = |args: &JobArgs| match remote::address(&args.job)? {
            Some(address) => Ok(address),
            None => {
                let message = format!("{} is no address of a job", shown(&args.job));
                Err(Failure::usage(message, "name it as s3://BUCKET/_deadpan/JOB/, or all jobs as s3://BUCKET"))
            }
        };
        match self.command {
            ClusterCommand::Key(args) => match args.output.place() {
                Some(Place::Given(place)) => Ok(Cluster::Key { place: place.clone(), force: args.output.force }),
                _ => Err(Failure::usage("a key needs a file", "name it with -o: deadpan cluster key -o job.key")),
            },
            ClusterCommand::Status(args) => {
                Ok(Cluster::Status { bucket: address(&args)?, key: args.job_key, json: args.json })
            }
            ClusterCommand::Clean(CleanArgs { of, force }) => {
                Ok(Cluster::Clean { bucket: address(&of)?, key: of.job_key, json: of.json, force })
            }
        }
    }
}

/// Returns the jobs at an address.
fn jobs(address: &Address, key: Option<&PathBuf>) -> Result<Vec<Job>, Failure> {
    let about = |error| Failure::job(&address.to_string(), error);
    let (store, key) = (remote::store(address)?, job_key(key.map(PathBuf::as_path), false)?);
    let folders = Job::folders(&store, address).map_err(about)?;
    let wanted = address.key().trim_end_matches('/');
    let mut found: Vec<_> = folders
        .into_iter()
        .filter(|folder| {
            let folder = folder.key().trim_end_matches('/');
            wanted.is_empty() || wanted == folder || wanted == deadpan_fleet::STATE.trim_end_matches('/')
        })
        .collect();
    if found.is_empty() && !wanted.is_empty() {
        let message = format!("{address}: there is no state of such a job");
        return Err(Failure::usage(message, "list all jobs with: deadpan cluster status s3://BUCKET"));
    }
    found.sort();
    Ok(found.into_iter().map(|folder| Job::there(key.clone(), store.clone(), folder)).collect())
}

impl Plan for Cluster {
    fn run(&self) -> Result<Exit, Failure> {
        match self {
            Self::Key { place, force } => {
                let text = JobKey::generate().map_err(|error| Failure::seal("", error))?;
                home::write(place, &line(&text), 0o600, *force)?;
            }
            Self::Status { bucket, key, json } => {
                let jobs = jobs(bucket, key.as_ref())?;
                for job in &jobs {
                    status(job, *json)?;
                }
                if jobs.is_empty() && !json {
                    print(&format!("{bucket}: no job has left anything here\n"))?;
                }
            }
            Self::Clean { bucket, key, json, force } => {
                let (mut exit, jobs) = (Exit::Done, jobs(bucket, key.as_ref())?);
                if jobs.is_empty() && !json {
                    print(&format!("{bucket}: no job has left anything here\n"))?;
                }
                for job in jobs {
                    let about = |error| Failure::job(&job.to_string(), error);
                    if !force && job.is_of_others().map_err(about)? {
                        let message = format!("{job}: this state belongs to a job with another key, and stays");
                        let hint = "give the job's key with --job-key; or remove it with --force";
                        let failure = Failure::usage(message, hint);
                        exit = failure.exit;
                        if *json {
                            print_json(&kept(&job, &failure))?
                        } else {
                            failure.say()
                        }
                        continue;
                    }
                    let Cleaned { ended, left } = job.clean().map_err(about)?;
                    if *json {
                        let job = job.folder().text();
                        let fields =
                            json!({ "schema": 1, "command": "cluster", "job": job, "ended": ended, "left": left });
                        print_json(&fields)?;
                    } else {
                        let uploads = match ended {
                            0 => "no upload was unfinished".to_owned(),
                            ended => {
                                format!("{} ended", count(ended, "unfinished upload was", "unfinished uploads were"))
                            }
                        };
                        print(&format!("{job}: the state of the job was removed, and {uploads}; results stay\n"))?;
                    }
                    if left > 0 {
                        let uploads = count(left, "upload", "uploads");
                        crate::tell::console::say(&format!(
                            "note: the parts of {uploads} stay in the store, because their state belongs to another \
                             key; its rule for old uploads removes them"
                        ));
                    }
                }
                return Ok(exit);
            }
        }
        Ok(Exit::Done)
    }
}

/// Returns the JSON object for a job whose state could not be removed, with the reason.
fn kept(job: &Job, failure: &Failure) -> Value {
    json!({
        "schema": 1,
        "command": "cluster",
        "job": job.folder().text(),
        "error": failure.message,
        "hint": failure.hint,
        "exit": failure.exit as u8,
    })
}

fn status(job: &Job, as_json: bool) -> Result<(), Failure> {
    let states = job.states().map_err(|error| Failure::job(&job.to_string(), error))?;
    if as_json {
        let long: Vec<_> = states
            .long
            .iter()
            .map(|one| {
                let (source, target) = one.objects.as_ref().map(|(from, to)| (from.raw(), to.raw())).unzip();
                json!({ "source": source, "target": target, "done": one.done, "parts": one.parts })
            })
            .collect();
        let fields = json!({
            "schema": 1,
            "command": "cluster",
            "job": job.folder().text(),
            "how": states.how.unwrap_or(Value::Null),
            "long": long,
        });
        return print_json(&fields);
    }
    let mut text = format!("{job}\n");
    for one in &states.long {
        let line = match (&one.objects, one.parts) {
            (Some((source, target)), Some(parts)) => {
                format!("  {source} -> {target}: {} of {parts} parts", one.done.unwrap_or(0))
            }
            _ => "  an object of a job with another key".to_owned(),
        };
        text.push_str(&format!("{line}\n"));
    }
    if states.long.is_empty() {
        let of = |end: &str| states.how.as_ref()?.get(end)?.as_str().map(Words::new);
        let what = of("source").zip(of("target"));
        let what = what.map_or("a job".to_owned(), |(source, target)| format!("{source} -> {target}"));
        text.push_str(&format!("  {what}: no object is half done\n"));
    }
    print(&text)
}
