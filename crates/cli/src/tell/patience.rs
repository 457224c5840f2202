//! Environment variables that set how long the program waits for another program.

use std::time::Duration;

use crate::tell::failure::Failure;

/// The number of seconds to wait for a silent plugin.
pub const PLUGIN: &str = "DEADPAN_PLUGIN_TIMEOUT";
/// The number of seconds to wait for the SSH agent.
pub const AGENT: &str = "DEADPAN_AGENT_TIMEOUT";

/// Returns the time from a variable, if the variable is set. `what` is the name of the program that Deadpan waits for.
pub fn seconds(variable: &str, what: &str) -> Result<Option<Duration>, Failure> {
    let Some(text) = std::env::var_os(variable) else { return Ok(None) };
    let seconds = text.to_str().and_then(|text| text.parse::<u32>().ok()).filter(|seconds| *seconds > 0);
    let invalid = || {
        let hint = format!("set it to the seconds to wait for {what}, such as {variable}=300");
        Failure::usage(format!("{variable} is not a number of seconds"), hint)
    };
    Ok(Some(Duration::from_secs(seconds.ok_or_else(invalid)?.into())))
}
