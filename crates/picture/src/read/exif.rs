//! Reads the orientation, which is the only tag of EXIF data that matters for pixels.

use super::turn::Turn;

const ORIENTATION: u16 = 0x0112;
/// The EXIF type for numbers of 16 bits.
const SHORT: u16 = 3;

/// Returns the orientation in EXIF data. Returns [`Turn::UPRIGHT`] for data without a valid orientation, as browsers
/// do.
///
/// The data begin with the TIFF header, or with `Exif\0\0` before it.
pub fn turn(exif: &[u8]) -> Turn {
    orientation(exif.strip_prefix(b"Exif\0\0").unwrap_or(exif)).and_then(Turn::new).unwrap_or(Turn::UPRIGHT)
}

fn orientation(tiff: &[u8]) -> Option<u16> {
    let big = match tiff.get(..4)? {
        b"MM\0*" => true,
        b"II*\0" => false,
        _ => return None,
    };
    let two = |at: usize| {
        let bytes = tiff.get(at..)?.first_chunk()?;
        Some(if big { u16::from_be_bytes(*bytes) } else { u16::from_le_bytes(*bytes) })
    };
    let four = |at: usize| {
        let bytes = tiff.get(at..)?.first_chunk()?;
        Some(if big { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) })
    };
    // The first directory consists of a count and entries of 12 bytes each: tag, type, count and value.
    let directory = usize::try_from(four(4)?).ok()?;
    let entries = directory.checked_add(2)?;
    (0..usize::from(two(directory)?))
        .map_while(|index| entries.checked_add(12 * index))
        .find(|&entry| two(entry) == Some(ORIENTATION))
        .filter(|&entry| two(entry + 2) == Some(SHORT) && four(entry + 4) == Some(1))
        .and_then(|entry| two(entry + 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiff(big: bool, tag: u16, kind: u16, count: u32, value: u16) -> Vec<u8> {
        let two = |number: u16| if big { number.to_be_bytes() } else { number.to_le_bytes() };
        let four = |number: u32| if big { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut bytes = if big { b"MM\0*".to_vec() } else { b"II*\0".to_vec() };
        bytes.extend(four(10));
        bytes.extend([0; 2]);
        bytes.extend(two(2));
        for (tag, kind, count, value) in [(0x0100, 3, 1, 77), (tag, kind, count, value)] {
            bytes.extend(two(tag).into_iter().chain(two(kind)).chain(four(count)).chain(two(value)).chain([0; 2]));
        }
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn orientations_of_both_byte_orders_are_found() {
        for big in [false, true] {
            for value in 1..=8 {
                let bytes = tiff(big, 0x0112, 3, 1, value);
                assert_eq!(turn(&bytes), Turn::new(value).unwrap());
                assert_eq!(turn(&[b"Exif\0\0", &*bytes].concat()), Turn::new(value).unwrap());
            }
        }
    }

    #[test]
    fn other_tags_types_and_values_are_upright() {
        for (tag, kind, count, value) in
            [(0x0113, 3, 1, 6), (0x0112, 4, 1, 6), (0x0112, 3, 2, 6), (0x0112, 3, 1, 0), (0x0112, 3, 1, 9)]
        {
            assert_eq!(turn(&tiff(true, tag, kind, count, value)), Turn::UPRIGHT);
        }
    }

    #[test]
    fn cut_and_flipped_data_are_no_panic() {
        let bytes = tiff(false, 0x0112, 3, 1, 6);
        // The orientation can be read as soon as the EXIF data contain the end of its value. The padding and the next
        // directory may be missing.
        for end in 0..bytes.len() {
            assert_eq!(turn(&bytes[..end]) != Turn::UPRIGHT, end >= bytes.len() - 6, "{end}");
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut flipped = bytes.clone();
                flipped[at] = value;
                turn(&flipped);
            }
        }
    }
}
