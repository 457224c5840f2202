//! Reading any `allowed_signers` file: it never panics and takes little time. All functions that look up a person give
//! consistent results.
//!
//! Input: a text. A line matches if it allows the person `fuzz`, the namespace `file` and the time 1800000000.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_seal::sign::Allowed;

const TIME: i64 = 1_800_000_000;

fuzz_target!(|data: &[u8]| {
    let Ok(allowed) = Allowed::read(data) else { return };
    for key in allowed.keys("fuzz") {
        let people = allowed.principals(key, "file", TIME);
        let permitted = allowed.permits("fuzz", key, "file", TIME);
        assert!(!permitted || !people.is_empty(), "permitted, and nobody's key");
        assert!(people.iter().all(|person| !person.is_empty() && !person.starts_with('!')));
    }
    // Comment lines do not change the result, except that the line number in an error changes if the line with the
    // error moves.
    let longer = [b"# comment\n\n", data].concat();
    let again = Allowed::read(&longer).expect("the same lines");
    assert_eq!(again.keys("fuzz"), allowed.keys("fuzz"));
    let local = Allowed::read_in(data, |time| time).expect("the same zone");
    assert_eq!(local.keys("fuzz"), allowed.keys("fuzz"));
});
