//! The irregularities in archives that do not prevent unpacking.

use std::fmt;

/// An irregularity that correct programs do not produce, but that other tar readers accept too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// The archive holds no entries.
    Empty,
    /// The two blocks of zeros at the end are missing.
    NoEnd,
    /// One block of zeros is followed by other bytes.
    LoneZeroBlock,
    /// An entry has two extended headers of the same kind.
    Repeated,
    /// A number fills its whole field, so its terminating zero byte is in the next field.
    Overflow,
    /// Another program has changed a pack.
    Stale,
    /// Access control lists are in the format of Solaris.
    SolarisAcl,
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the archive is empty",
            Self::NoEnd => "the archive has no end: it may have been cut short between two entries",
            Self::LoneZeroBlock => {
                "the archive ends with one block of zeros instead of two; what follows it is ignored"
            }
            Self::Repeated => "an entry of the archive has the same extended header twice; the last one counts",
            Self::Overflow => "a number in the archive is too long for its field, and runs into the next one",
            Self::Stale => {
                "another program has changed this archive since it was packed: its index is not used, and contents are \
                not checked"
            }
            Self::SolarisAcl => "access control lists in Solaris' form are not restored",
        })
    }
}
