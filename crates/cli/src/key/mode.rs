//! The kinds of protection, with their names on the command line.

use deadpan_seal::Mode;

/// A value of `--mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ModeArg {
    /// Elliptic curves: small and fast, unsafe against future quantum computers
    Ecc,
    /// ML-KEM: post-quantum
    Pqc,
    /// ecc and pqc: an attacker has to break both
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

pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Ecc => "ecc",
        Mode::Pqc => "pqc",
        Mode::Hybrid => "hybrid",
    }
}
