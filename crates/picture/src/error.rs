//! Errors, grouped by their cause.

use std::io;

use crate::FileFormat;

/// The reason why a picture could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not a picture, or it has an unknown format.
    #[error("not a PNG, WebP or JPEG picture")]
    NotAPicture,
    /// The file is a picture in a format that this crate does not read.
    #[error("a picture in the format {0}, not PNG, WebP or JPEG")]
    OtherFormat(
        /// The name of the format.
        &'static str,
    ),
    /// The file ends before the picture is complete.
    #[error("the {0} file ends too early")]
    Cut(FileFormat),
    /// The file breaks the rules of its format.
    #[error("the {format} file is damaged: {reason}")]
    Damaged {
        /// The file format that the first bytes of the file show.
        format: FileFormat,
        /// The broken rule, in plain words.
        reason: String,
    },
    /// The format has this feature, but the decoder does not support it.
    #[error("the {format} file has {feature}, which is not supported")]
    Unsupported {
        /// The format of the file.
        format: FileFormat,
        /// The missing feature.
        feature: &'static str,
    },
    /// The picture has more than one frame.
    #[error("the picture is animated")]
    Animated,
    /// A pixel is not opaque.
    #[error("the picture has transparent pixels")]
    Transparent,
    /// The picture has more pixels than the caller allows.
    #[error("{width} × {height} pixels are more than the limit of {limit}")]
    TooManyPixels {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// The maximum number of pixels that the caller allows.
        limit: u64,
    },
    /// Decoding takes more memory than the caller allows.
    #[error("decoding the picture takes more memory than the limit of {limit} bytes")]
    TooMuchMemory {
        /// The maximum number of bytes that the caller allows.
        limit: u64,
    },
    /// Decoding takes too much memory in relation to the length of the file. The picture is empty, or was made to
    /// exhaust memory.
    #[error(
        "reading the picture takes {} MiB of memory, which is out of proportion to its file of {length} bytes",
        memory.div_ceil(1 << 20)
    )]
    Disproportionate {
        /// The bytes of memory.
        memory: u64,
        /// The length of the file.
        length: u64,
    },
    /// The system could not read.
    #[error("cannot read the picture: {0}")]
    Read(#[source] io::Error),
    /// The system could not write.
    #[error("cannot write the picture: {0}")]
    Write(#[source] io::Error),
    /// The pictures that are compared have different sizes, in pixels.
    #[error("the pictures have different sizes: {} × {} and {} × {} pixels", cover.0, cover.1, result.0, result.1)]
    Sizes {
        /// Width and height of the cover.
        cover: (u32, u32),
        /// Width and height of the other picture.
        result: (u32, u32),
    },
    /// No file of the format can have this width and height, or the number of samples does not match width and height.
    #[error("the file format has no pictures of {width} × {height} pixels with {samples} samples")]
    Size {
        /// The width in pixels.
        width: u32,
        /// The height in pixels.
        height: u32,
        /// The number of samples.
        samples: u64,
    },
    /// The picture is gray, and WebP has no gray pictures. WebP decoders return three channels, in which the data of a
    /// gray template are not found.
    #[error("WebP has no gray pictures")]
    GrayWebP,
    /// The system has no random bytes.
    #[error("cannot get random bytes: {0}")]
    Random(#[source] io::Error),
    /// A part is too long for a cover.
    #[error(
        "the cover carries {room} bytes, not {length}: the seed and the doors take {reserved} of its {samples} samples"
    )]
    SmallCover {
        /// The samples of the cover.
        samples: u64,
        /// The number of samples that the seed and the sealed labels (doors) take.
        reserved: u64,
        /// The maximum number of bytes that the cover carries.
        room: u64,
        /// The length of the part.
        length: u64,
    },
    /// There are more secrets than a picture has doors (sealed labels).
    #[error("a picture has at most 32 doors, not {doors}")]
    Doors {
        /// The number of necessary doors (sealed labels), including the door of the set.
        doors: usize,
    },
    /// The width or the height of a carrier is impossible, or so small that the carrier has no room for data.
    #[error("a carrier of {width} × {height} pixels is impossible")]
    CarrierSize {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The data need more pictures than a set can have.
    #[error("the set would have too many pictures")]
    TooManyPictures,
    /// A set with this number of pictures cannot have this number of spare pictures.
    #[error("{spares} spare pictures are too many for {count} that carry data, which can have {most}")]
    TooManySpares {
        /// How many pictures carry data.
        count: u32,
        /// How many spare pictures the set would have.
        spares: u32,
        /// The maximum number of spare pictures that the set can have.
        most: u32,
    },
    /// The caller did not write all data.
    #[error("the data were not written at position {position}")]
    Incomplete {
        /// The first byte that is missing.
        position: u64,
    },
    /// The label of a carrier is damaged.
    #[error("the label of the picture is damaged")]
    Label,
    /// The label of a carrier has the correct checksum, but is impossible: it states too many pictures or spare
    /// pictures, or a part outside of the data.
    #[error("the label of the picture is whole, but describes a set that cannot be")]
    ImpossibleLabel,
    /// Too many pictures of the set are missing or damaged.
    #[error("{missing} of the pictures that carry data are missing, and {spares} spare pictures are there")]
    MissingPictures {
        /// How many of the pictures that carry data are missing or damaged.
        missing: u32,
        /// The number of spare pictures, without the spare pictures that are known to be damaged.
        spares: u32,
        /// The indexes of the pictures that turned out to be damaged, in the order in which
        /// [`Set::reject`](crate::Set::reject) removes them from the set. An index occurs once for each damaged copy.
        damaged: Vec<u32>,
    },
    /// The labels of a set contradict each other.
    #[error("the pictures of the set contradict each other")]
    Contradiction,
}
