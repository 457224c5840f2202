//! Any bytes are read as the label of a picture. If a label is accepted, it is the same after writing and reading it,
//! and it describes a part that lies within the data.
//!
//! Input: a sequence of labels.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_picture::{LABEL, Label};

fuzz_target!(|data: &[u8]| {
    for bytes in data.as_chunks::<LABEL>().0 {
        let Some(label) = Label::from_bytes(bytes) else { continue };
        assert_eq!(label.to_bytes(), *bytes);
        assert!(label.index < label.count + label.spares, "{label:?}");
        assert!(label.is_spare() || label.offset + u64::from(label.length) <= label.total, "{label:?}");
    }
});
