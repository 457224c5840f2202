//! The command `calibrate`, which measures the lab's own error rates and stores them.

use std::process::ExitCode;

use super::args::CalibrateArgs;
use super::output::{Fault, Run};
use super::progress::{self, Progress};
use super::show::Screen;
use super::{Suite, state};
use crate::timing::Settings;
use crate::{calibrate, clock};

pub(super) fn run(args: &CalibrateArgs, suite: &Suite) -> Result<ExitCode, Fault> {
    args.output.check(&[])?;
    let clock = clock::best();
    let mut options = if args.quick { calibrate::Options::quick() } else { calibrate::Options::default() };
    options.settings = Settings { alpha: args.alpha, ..options.settings };
    options.nulls = args.runs.unwrap_or(options.nulls);
    let command = format!(
        "calibrate{}{}",
        if args.quick { " --quick" } else { "" },
        args.runs.map_or_else(String::new, |runs| format!(" --runs {runs}"))
    );
    let mut run = Run::new(suite, &command, &*clock);
    let total = options.costs.len() as u64 * (options.nulls + options.trials * options.delays.len() as u64);
    let mut progress = Progress::new(total);
    let calibration = calibrate::run(&options, &run.record.machine, &run.record.tool, &*clock, &mut progress);
    progress.finish();
    let screen = Screen::new(args.output.takes_stdout());
    screen.calibration(&calibration);
    if progress::interrupted() {
        screen.line("interrupted: the calibration was not stored");
        return Ok(ExitCode::from(130));
    }
    run.record.calibration = Some(calibration.clone());
    run.finish(&args.output)?;
    let folder = state::folder();
    calibrate::store(&folder, &calibration).map_err(|error| {
        format!(
            "cannot store the calibration in {}: {error}\nhint: choose another folder with DEADPAN_LAB_STATE",
            folder.display()
        )
    })?;
    Ok(ExitCode::SUCCESS)
}
