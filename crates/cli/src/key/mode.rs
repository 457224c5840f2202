//! The kinds of protection, with their names on the command line.

use deadpan_seal::Mode;

/// A value of `--mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ModeArg {
    /// Elliptic curves: small and fast, but open to a future quantum computer
    Ecc,
    /// ML-KEM: post-quantum
    Pqc,
    /// Both at once: an attacker has to break both
    Hybrid,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Ecc => Self::Ecc,
            ModeArg::Pqc => Self::Pqc,
            ModeArg::Hybrid => Self::Hybrid,
        }
    }
}

/// Returns a mode's name on the command line.
pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Ecc => "ecc",
        Mode::Pqc => "pqc",
        Mode::Hybrid => "hybrid",
    }
}
