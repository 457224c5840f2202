//! The types of handles, with their names in C.
#![allow(non_camel_case_types)]

macro_rules! kinds {
    ($($name:ident)*) => { $(
        /// A handle. No value of this type exists, and pointers to this type are only numbers.
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )* };
}

kinds! {
    dp_error dp_opening dp_passphrase dp_private_key dp_public_key dp_reader dp_sealing dp_session dp_work dp_writer
}
