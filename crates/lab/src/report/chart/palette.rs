//! The colors of charts, for the light and the dark theme. The colors are the palette of Okabe and Ito, with more
//! contrast. Color-blind readers can distinguish these colors.

/// The name of a color. The theme of the page determines the shade of the color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Ink {
    Text,
    Muted,
    Grid,
    Blue,
    Vermillion,
    Green,
    Purple,
    Ochre,
    Sky,
    Brown,
    Slate,
}

/// One row for each color: the variant of [`Ink`], its name in style sheets, its shade in the light theme, and its
/// shade in the dark theme.
const COLORS: [(Ink, &str, u32, u32); 11] = [
    (Ink::Text, "ink", 0x1b1d22, 0xeceef2),
    (Ink::Muted, "muted", 0x5c6370, 0xa3abb8),
    (Ink::Grid, "grid", 0xe3e6eb, 0x343a44),
    (Ink::Blue, "blue", 0x0068a8, 0x63b5f0),
    (Ink::Vermillion, "vermillion", 0xc74e00, 0xff8f57),
    (Ink::Green, "green", 0x007a5a, 0x3fcfa4),
    (Ink::Purple, "purple", 0xa8497f, 0xe79cc6),
    (Ink::Ochre, "ochre", 0x946200, 0xf0bf4a),
    (Ink::Sky, "sky", 0x2b87c4, 0x9ad4ff),
    (Ink::Brown, "brown", 0x6b4a2b, 0xcfa982),
    (Ink::Slate, "slate", 0x8a93a1, 0x7b8594),
];

/// Colors for curves that differ only in color, in the order in which charts use the colors.
pub(in crate::report) const SERIES: [Ink; 7] =
    [Ink::Blue, Ink::Vermillion, Ink::Green, Ink::Purple, Ink::Ochre, Ink::Brown, Ink::Sky];

impl Ink {
    fn row(self) -> &'static (Self, &'static str, u32, u32) {
        COLORS.iter().find(|row| row.0 == self).unwrap_or(&COLORS[0])
    }

    pub(in crate::report) fn name(self) -> &'static str {
        self.row().1
    }
}

/// Returns the style sheet with the colors of charts. `root` is the selector of the element on which the style sheet
/// sets its variables: `:root` in a page, `svg` in a file.
pub(in crate::report) fn style(root: &str) -> String {
    let list = |pick: fn(&(Ink, &str, u32, u32)) -> u32| -> String {
        COLORS.iter().map(|row| format!("--{}:#{:06x};", row.1, pick(row))).collect()
    };
    let (light, dark) = (list(|row| row.2), list(|row| row.3));
    let rules: String = COLORS
        .iter()
        .map(|row| {
            let name = row.1;
            format!(".s-{name}{{stroke:var(--{name})}}.f-{name}{{fill:var(--{name})}}")
        })
        .collect();
    format!(
        "{root}{{{light}--paper:#ffffff}}\n@media screen and \
         (prefers-color-scheme:dark){{{root}{{{dark}--paper:#14171c}}}}\n\
         .chart [class^=s-]{{fill:none;stroke-linecap:round;stroke-linejoin:round}}{rules}\n"
    )
}
