//! JPEG pictures of every kind.

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

/// The meaning of a picture's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JpegKind {
    Gray,
    YCbCr,
    /// Adobe's marker says that the three components are red, green and blue.
    AdobeRgb,
    /// The file has Adobe's marker, and the amounts of ink are inverted.
    AdobeCmyk,
    /// The file has no marker, but the amounts of ink are inverted too.
    PlainCmyk,
    Ycck,
}

const KINDS: [JpegKind; 6] = {
    use JpegKind::{AdobeCmyk, AdobeRgb, Gray, PlainCmyk, YCbCr, Ycck};
    [Gray, YCbCr, AdobeRgb, AdobeCmyk, PlainCmyk, Ycck]
};

/// One picture with quality 95.
#[derive(Clone, Copy, Debug)]
pub struct JpegPicture {
    pub kind: JpegKind,
    pub progressive: bool,
    pub sampling: SamplingFactor,
    pub restarts: bool,
    pub width: u16,
    pub height: u16,
}

impl JpegPicture {
    pub fn all() -> impl Iterator<Item = Self> {
        use SamplingFactor::{F_1_1, F_1_2, F_2_1, F_2_2, F_4_1};
        let kinds = KINDS.into_iter().flat_map(|kind| [false, true].map(|progressive| (kind, progressive)));
        let kinds = kinds.flat_map(|kind| [F_1_1, F_2_1, F_1_2, F_2_2, F_4_1].map(|sampling| (kind, sampling)));
        kinds.flat_map(|((kind, progressive), sampling)| {
            [(1, 1), (8, 8), (16, 16), (17, 31), (95, 64), (120, 90)].map(|(width, height)| Self {
                kind,
                progressive,
                sampling,
                restarts: width == 95,
                width,
                height,
            })
        })
    }

    /// The samples of a pixel that a reader returns.
    pub fn channels(self) -> u32 {
        if self.kind == JpegKind::Gray { 1 } else { 3 }
    }

    pub fn file(self, samples: &[u8], exif: Option<&[u8]>) -> Vec<u8> {
        // The encoder takes inks, and inverts them. The black ink is not used.
        let inks = || {
            let (pixels, _) = samples.as_chunks::<3>();
            pixels.iter().flat_map(|pixel| pixel.map(|light| 255 - light).into_iter().chain([0])).collect()
        };
        let (samples, color) = match self.kind {
            JpegKind::Gray => (samples.to_vec(), ColorType::Luma),
            JpegKind::YCbCr => (samples.to_vec(), ColorType::Rgb),
            JpegKind::AdobeRgb => (samples.to_vec(), ColorType::Ycbcr),
            JpegKind::AdobeCmyk => (inks(), ColorType::Cmyk),
            JpegKind::PlainCmyk => (inks(), ColorType::Cmyk),
            JpegKind::Ycck => (inks(), ColorType::CmykAsYcck),
        };
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, 95);
        encoder.set_progressive(self.progressive);
        encoder.set_sampling_factor(self.sampling);
        if self.restarts {
            encoder.set_restart_interval(3);
        }
        if let Some(exif) = exif {
            encoder.add_exif_metadata(exif).unwrap();
        }
        encoder.encode(&samples, self.width, self.height, color).unwrap();
        let marker = |file: &[u8]| file.windows(6).position(|bytes| bytes == b"\xff\xee\0\x0eAd");
        match self.kind {
            JpegKind::AdobeRgb => {
                assert_eq!((marker(&file), &file[2..11]), (None, &b"\xff\xe0\0\x10JFIF\0"[..]));
                file.splice(2..20, *b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0");
            }
            JpegKind::PlainCmyk => {
                let at = marker(&file).expect("the encoder's marker");
                file.drain(at..at + 16);
            }
            _ => {}
        }
        file
    }
}
