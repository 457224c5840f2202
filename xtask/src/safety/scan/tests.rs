//! Code that the check must report, and code that it must accept.

use std::path::Path;

use super::faults;

const INSIDE: &str = "crates/ct/src/imp/avx2.rs";
const OUTSIDE: &str = "crates/ct/src/choice.rs";

#[track_caller]
fn assert_fine(file: &str, source: &str) {
    assert_eq!(faults(Path::new(file), source), Vec::<String>::new());
}

#[track_caller]
fn assert_fault(file: &str, source: &str, line: usize, words: &str) {
    let found = faults(Path::new(file), source);
    assert!(
        found.iter().any(|fault| fault.contains(words) && fault.starts_with(&format!("{file}:{line}:"))),
        "{found:?}"
    );
}

#[test]
fn safe_code_is_fine_anywhere() {
    assert_fine(
        OUTSIDE,
        "#![forbid(unsafe_code)]\nfn f(unsafe_looking: u8) -> &'static str { \"unsafe { }\" }\n// unsafe { }\n\
        type F = fn();",
    );
}

#[test]
fn unsafe_outside_its_places_is_found_whatever_its_form() {
    for source in [
        "fn f() {\n// SAFETY: x.\nunsafe { g() } }",
        "\n// SAFETY: x.\nunsafe impl Send for X {}",
        "\n/// # Safety\nunsafe fn f() {}",
        "\n\nunsafe extern \"C\" { fn f(); }",
        "\n\n#[unsafe(no_mangle)] fn f() {}",
        "\n\n#[cfg_attr(test, unsafe(no_mangle))] fn f() {}",
        "\n/// # Safety\nunsafe trait T {}",
        "macro_rules! m { () => {\n// SAFETY: x.\nunsafe { g() } } }",
        "fn f() { assert!(\n// SAFETY: x.\nunsafe { g() }) }",
    ] {
        assert_fault(OUTSIDE, source, 3, "outside the places");
    }
}

#[test]
fn permission_outside_its_places_is_found() {
    assert_fault(OUTSIDE, "\n#![allow(unsafe_code)]", 2, "allow(unsafe_code)");
    assert_fault(OUTSIDE, "#[expect(dead_code, unsafe_code)]\nfn f() {}", 1, "allow(unsafe_code)");
    assert_fault(OUTSIDE, "#[cfg_attr(test, allow(unsafe_code))]\nfn f() {}", 1, "allow(unsafe_code)");
    assert_fault("crates/ct/src/lib.rs", "#[allow(unsafe_code)]\nmod choice;", 1, "allow(unsafe_code)");
    assert_fault("crates/ct/src/lib.rs", "#[allow(unsafe_code)]\nmod imp { }", 1, "allow(unsafe_code)");
}

#[test]
fn permission_for_a_named_place_is_fine() {
    assert_fine("crates/ct/src/lib.rs", "#[allow(unsafe_code)]\nmod imp;\n#[allow(unsafe_code)]\npub mod barrier;");
    assert_fine(
        "crates/ct/src/lib.rs",
        "#[cfg(test)]\n#[allow(unsafe_code)]\nmod tests {\n fn f() {\n // SAFETY: x.\n unsafe { g() } } }",
    );
    assert_fine(INSIDE, "#![allow(unsafe_code)]");
}

#[test]
fn a_comment_above_the_block_its_statement_or_its_constant_is_enough() {
    for source in [
        "fn f() {\n // SAFETY: x.\n unsafe { g() }\n}",
        "fn f() {\n // SAFETY: x,\n // and y.\n let a =\n unsafe { g() };\n}",
        "fn f() {\n // SAFETY: x.\n h(1,\n   unsafe { g() });\n}",
        "fn f() { match x {\n // SAFETY: x.\n 1 => unsafe { g() },\n _ => 0,\n } }",
        "// SAFETY: x.\n#[rustfmt::skip]\nconst A: u8 =\n h(1,\n unsafe { g() });",
        "// SAFETY: x.\nunsafe impl Send for X {}",
        "macro_rules! m { () => {\n // SAFETY: x.\n let a =\n  unsafe { g() };\n } }",
        "fn f() { /* SAFETY: x. */ unsafe { g() } }",
    ] {
        assert_fine(INSIDE, source);
    }
}

#[test]
fn a_missing_comment_is_found() {
    for source in [
        "fn f() {\n unsafe { g() }\n}",
        "fn f() {\n // SAFETY: too far.\n let x = 1;\n unsafe { g() } }",
        "\nunsafe impl Send for X {}",
        "macro_rules! m { () => {\n unsafe { g() } } }",
        "fn f() {\n // SAFETY: a gap below.\n\n unsafe { g() } }",
    ] {
        let line = 1 + source.lines().position(|line| line.trim_start().starts_with("unsafe")).unwrap();
        assert_fault(INSIDE, source, line, "SAFETY");
    }
}

#[test]
fn one_comment_does_not_speak_for_two_statements() {
    assert_fault(INSIDE, "fn f() {\n // SAFETY: x.\n unsafe { g() };\n unsafe { g() };\n}", 4, "SAFETY");
    assert_fault(INSIDE, "// SAFETY: of f.\nfn f() {\n let a = 1;\n unsafe { g() }\n}", 4, "SAFETY");
}

#[test]
fn unsafe_functions_say_what_the_caller_owes() {
    assert_fine(
        INSIDE,
        "/// Loads.\n///\n/// # Safety\n/// AVX2.\n#[target_feature(\n enable = \"avx2\"\n)]\nunsafe fn f() {}",
    );
    assert_fine(INSIDE, "// SAFETY: callers have AVX2.\n#[inline]\nunsafe fn f() {}");
    assert_fine(INSIDE, "impl T for X { unsafe fn f() {} }");
    assert_fine(INSIDE, "type F = unsafe fn(u8);\nmacro_rules! m { () => { type F = unsafe extern \"C\" fn(u8); } }");
    assert_fine(INSIDE, "/// # Safety\n/// AVX2.\ntrait T { unsafe fn f(); }");
    assert_fault(INSIDE, "/// Loads.\ntrait T {\n unsafe fn f(); }", 3, "# Safety");
    assert_fault(INSIDE, "/// Loads.\nunsafe fn f() {}", 2, "# Safety");
    assert_fault(INSIDE, "impl X { unsafe fn f() {} }", 1, "# Safety");
    assert_fault(INSIDE, "macro_rules! m { () => {\n unsafe fn f() {} } }", 2, "# Safety");
}

#[test]
fn a_file_that_does_not_parse_is_a_fault() {
    assert_fault(OUTSIDE, "fn f( {", 1, "does not parse");
}
