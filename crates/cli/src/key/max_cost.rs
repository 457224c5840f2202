//! `--max-cost`: how much memory and time a passphrase may take.

use crate::tell::size;
use deadpan_seal::MaxCost;

/// The limit on the cost of hashing a file's passphrase. The sender of the file chose the cost of the passphrase.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct MaxCostArgs {
    /// Try a passphrase only if its hash takes at most this much memory and this many passes over it (3 if PASSES is
    /// left out). The sender chose both values; sealing takes 256MiB:3 [default: 2.5GiB:3]
    #[arg(long, value_name = "MEM[:PASSES]", value_parser = parse)]
    max_cost: Option<MaxCost>,
}

impl MaxCostArgs {
    /// Returns the ceiling.
    pub fn get(self) -> MaxCost {
        self.max_cost.unwrap_or_default()
    }
}

fn parse(text: &str) -> Result<MaxCost, String> {
    let (memory, passes) = text.split_once(':').unwrap_or((text, "3"));
    let bytes = size::parse(memory)?.0;
    let passes = passes.parse().map_err(|_| "PASSES is a whole number, as in 1GiB:4".to_owned())?;
    if bytes < 1024 || passes == 0 {
        return Err("this is less than any passphrase takes".to_owned());
    }
    Ok(MaxCost::new(u32::try_from(bytes / 1024).unwrap_or(u32::MAX), passes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tell::advice::seal::max_cost;
    use deadpan_seal::Cost;

    #[test]
    fn costs_are_what_they_say() {
        for (text, memory, passes) in [
            ("256M", 256 << 10, 3),
            ("1GiB", 1 << 20, 3),
            ("2.5GiB:3", 2560 << 10, 3),
            ("64K:1", 64, 1),
            ("1TiB:64", 1 << 30, 64),
        ] {
            assert_eq!(parse(text), Ok(MaxCost::new(memory, passes)), "{text}");
        }
        assert_eq!(parse("2.5GiB:3"), Ok(MaxCost::default()), "as the help says");
        for text in ["", ":", "1GiB:", ":3", "1GiB:0", "0", "1023", "1GiB:-1", "1GiB:3:3", "much"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_option_allows_what_it_was_made_of() {
        for (memory, passes) in [(4 << 20, 4), (300 << 10, 64), (8, 1)] {
            let cost = Cost { memory, passes, lanes: 1 };
            let text = max_cost(cost);
            let max = parse(text.strip_prefix("--max-cost ").unwrap()).unwrap();
            assert!(max.allows(cost), "{text}");
            assert!(!max.allows(Cost { passes: passes + 1, ..cost }), "{text}");
        }
    }
}
