//! Failures of work on many objects, with advice on each failure.

use super::{Exit, Failure};
use deadpan_fleet::{Error, Foreign};

impl Failure {
    pub fn job(name: &str, error: Error) -> Self {
        let system = |message: String, hint: &str| Self::new(Exit::System, message, hint);
        match error {
            Error::Store(error) => Self::store(&error),
            Error::Seal(error) => Self::seal(name, error),
            Error::File(path, error) => Self::path("read", &path, &error),
            Error::Write(path, error) => Self::path("write", &path, &error),
            Error::Changed => system(
                format!("{name}: it changed while it was read"),
                "run the command again, with --force if it then says that the result is older",
            ),
            Error::System(error) => Self::io("start threads for", name, &error),
            Error::Outdated => Self::usage(
                format!("{name}: its result is older than it is, and is not replaced"),
                "replace such results with --force",
            ),
            Error::Short => Self::usage(
                format!(
                    "{name}: the object in the place of its result is too short to be the result, and is not replaced"
                ),
                "inspect the object, and replace it with --force",
            ),
            Error::Name => Self::new(
                Exit::Data,
                format!("{name}: its name cannot be that of a file or an object here"),
                "seal or open it by itself, and name the output with -o",
            ),
            Error::OtherKey(state) => Self::usage(
                format!("{state}: this state belongs to a job with another key"),
                "give the job's key with --job-key, or give the job up: deadpan cluster clean --force JOB",
            ),
            Error::OtherJob(job, how) => Self::usage(
                format!("{job}: this job was begun {how}"),
                format!(
                    "use the same options, or choose another place with --to; deadpan rewrap --recursive changes the \
                     recipients of the results, and deadpan cluster clean {job} forgets the job and keeps the results"
                ),
            ),
            Error::Damaged(state) => Self::usage(
                format!("{state}: this state is damaged, or belongs elsewhere"),
                "give the job up: deadpan cluster clean JOB; its results stay",
            ),
            Error::TooMuch(_) => system(error.to_string(), "remove what lies there and is no job's"),
            Error::Twice => Self::usage(
                format!("{name}: another source has the same result"),
                "rename one of them, or leave it out with --exclude",
            ),
            Error::Unreached => {
                system(error.to_string(), "run the command again when the store answers: what is done stays done")
            }
            Error::Refused(what) => Self::usage(what, "choose another place with --to"),
            Error::Lost(what) => system(what, "run the command again: it begins anew with this object"),
            Error::Foreign(error) => foreign(name, error),
            other => system(format!("{name}: {other}"), "run the command again"),
        }
    }
}

fn foreign(name: &str, error: Foreign) -> Failure {
    let error = match error.downcast::<Failure>() {
        Ok(failure) => return *failure,
        Err(error) => error,
    };
    match error.downcast::<deadpan_seal::Error>() {
        Ok(error) => Failure::seal(name, *error),
        Err(error) => Failure::new(Exit::System, format!("{name}: {error}"), "run the command again"),
    }
}
