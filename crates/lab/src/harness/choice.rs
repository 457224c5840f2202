//! Selects targets and classes by the parts of their names that the user states.

use super::args::TimingArgs;
use super::output::Fault;
use crate::similar::distance_to_part;
use crate::target::Target;

/// Without patterns, every name matches.
fn wanted(name: &str, patterns: &[String]) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| name.contains(pattern.as_str()))
}

pub(super) fn named(targets: Vec<Target>, patterns: &[String]) -> Result<Vec<Target>, Fault> {
    let names: Vec<String> = targets.iter().map(|target| target.name().to_owned()).collect();
    let chosen: Vec<Target> = targets.into_iter().filter(|target| wanted(target.name(), patterns)).collect();
    if chosen.is_empty() {
        return Err(unknown(&names, patterns));
    }
    Ok(chosen)
}

/// Maximum number of names in a hint.
const SHOWN: usize = 6;

/// Returns the error for a pattern that matches no target. The error lists the target names that are most similar to
/// the pattern.
pub(super) fn unknown(names: &[String], patterns: &[String]) -> Fault {
    let distance = |name: &str| patterns.iter().map(|pattern| distance_to_part(pattern, name)).min();
    let mut similar: Vec<&str> = names.iter().map(String::as_str).collect();
    similar.sort_by_cached_key(|name| (distance(name), name.len(), *name));
    similar.dedup();
    let count = similar.len();
    similar.truncate(SHOWN);
    let names = similar.join(", ");
    let hint = if count > SHOWN {
        format!("the most similar of {count} names are {names}; see all with --list")
    } else {
        format!("the targets are {names}")
    };
    format!("no target's name contains {}\nhint: {hint}", patterns.join(" or ")).into()
}

/// Returns the targets and classes whose names match the user's patterns. If the user chose classes, the result
/// contains only targets with at least one pair of the chosen classes.
pub(super) fn choose(targets: Vec<Target>, args: &TimingArgs) -> Result<Vec<Target>, Fault> {
    let mut chosen = named(targets, &args.target)?;
    if !args.class.is_empty() {
        chosen = chosen.into_iter().map(|target| target.only(|name| wanted(name, &args.class))).collect();
        chosen.retain(|target| !target.pairs().is_empty());
    }
    if chosen.is_empty() {
        let hint = "hint: a verdict compares two classes; see them with --list";
        return Err(format!("fewer than two classes are called {}\n{hint}", args.class.join(" or ")).into());
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_about_an_unknown_name_is_short() {
        let names: Vec<String> =
            (0..130).map(|number| format!("target.{number}")).chain(["base64".to_owned()]).collect();
        let text = unknown(&names, &["bse64".to_owned()]).to_string();
        assert!(
            text.contains("no target's name contains bse64\nhint: the most similar of 131 names are base64, "),
            "{text}"
        );
        assert!(text.contains("--list") && text.len() < 200, "{text}");
    }
}
