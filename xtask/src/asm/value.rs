//! The known contents of a general-purpose register, or of an 8-byte stack slot.
//!
//! The audit uses these values to distinguish the stack from other memory, to find jump tables, and to follow calls
//! through the global offset table. `State::secret` records separately whether a register is *secret*.

/// Stack offsets are relative to the stack pointer at the entry of the current function. On x86-64, offset 0 is
/// the return address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    #[default]
    Unknown,
    /// A number from an immediate operand.
    Number(u64),
    /// An address in the object.
    Address(u64),
    /// The start of a block of 4096 bytes in the object: `adrp reg, x`. An addition completes the address.
    Page(u64),
    /// An address in the object's constants plus an unknown index.
    Static,
    /// The value that the object contains at this address, such as an entry of the global offset table.
    Loaded(u64),
    /// A stack address.
    Stack(i64),
    /// One of two stack addresses. The lower address comes first.
    Either(i64, i64),
    /// An address somewhere in the array at this stack address: the address plus an index.
    Within(i64),
    /// A stack address, assumed to be at or above this offset.
    NearStack(i64),
}

impl Value {
    /// The value that includes the values of both paths. If one of the two values may be a pointer into the stack, the
    /// result is also a possible stack pointer.
    pub(crate) fn join(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        match (self, other) {
            (Self::Stack(a), Self::Stack(b)) => return Self::Either(a.min(b), a.max(b)),
            (either @ Self::Either(a, b), Self::Stack(c)) | (Self::Stack(c), either @ Self::Either(a, b))
                if c == a || c == b =>
            {
                return either;
            }
            _ => {}
        }
        match (self.stack_floor(), other.stack_floor()) {
            (Some(a), Some(b)) => Self::NearStack(a.min(b)),
            (Some(a), None) | (None, Some(a)) => Self::NearStack(a),
            (None, None) if self.is_static() && other.is_static() => Self::Static,
            (None, None) => Self::Unknown,
        }
    }

    /// The lowest stack offset to which this value may point, by the audit's assumptions.
    pub(crate) fn stack_floor(self) -> Option<i64> {
        match self {
            Self::Stack(offset) | Self::Within(offset) | Self::NearStack(offset) | Self::Either(offset, _) => {
                Some(offset)
            }
            _ => None,
        }
    }

    pub(crate) fn is_static(self) -> bool {
        matches!(self, Self::Address(_) | Self::Page(_) | Self::Static | Self::Loaded(_))
    }

    /// This value plus a known number. The floor of an inexact stack pointer (its lowest possible offset) does not
    /// change. If the lowest possible offset decreased in a loop that moves down through an array, the analysis would
    /// never reach a fixpoint.
    pub(crate) fn plus(self, number: i64) -> Self {
        match self {
            Self::Number(n) => Self::Number(n.wrapping_add_signed(number)),
            Self::Stack(offset) => Self::Stack(offset.wrapping_add(number)),
            Self::Within(offset) => Self::Within(offset.wrapping_add(number)),
            Self::Either(a, b) => Self::Either(a.wrapping_add(number), b.wrapping_add(number)),
            Self::Page(page) if number != 0 => Self::Address(page.wrapping_add_signed(number)),
            Self::Address(_) if number != 0 => Self::Static,
            Self::Loaded(_) if number != 0 => Self::Static,
            other => other,
        }
    }

    /// The sum of two values.
    pub(crate) fn sum(self, other: Self) -> Self {
        match (self, other) {
            (value, Self::Number(n)) | (Self::Number(n), value) => value.plus(n.cast_signed()),
            (Self::Stack(base) | Self::Within(base), Self::Unknown)
            | (Self::Unknown, Self::Stack(base) | Self::Within(base)) => Self::Within(base),
            _ if self.is_static() != other.is_static() && self.blur(other) == Self::Unknown => Self::Static,
            _ => self.blur(other),
        }
    }

    /// The result of every other arithmetic operation on two values. If one of the values is a stack pointer, the
    /// result is a stack pointer near the same address.
    pub(crate) fn blur(self, other: Self) -> Self {
        match (self.stack_floor(), other.stack_floor()) {
            (Some(a), Some(b)) => Self::NearStack(a.min(b)),
            (Some(a), None) | (None, Some(a)) => Self::NearStack(a),
            (None, None) => Self::Unknown,
        }
    }

    /// The same value as seen by a function whose entry stack pointer is higher by `by` than the entry stack pointer of
    /// the current function.
    pub(crate) fn shift(self, by: i64) -> Self {
        match self {
            Self::Stack(offset) => Self::Stack(offset - by),
            Self::Either(a, b) => Self::Either(a - by, b - by),
            Self::Within(offset) => Self::Within(offset - by),
            Self::NearStack(offset) => Self::NearStack(offset - by),
            other => other,
        }
    }
}
