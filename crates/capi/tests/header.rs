//! Tests that `deadpan.h` declares the same functions with the same types, and the same codes, as the library.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use deadpan_bind::Code;

/// The signature of a function or a callback: the type of its result, and the types of its parameters.
type Signature = (String, Vec<String>);

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of this crate")
}

/// Returns the header without comments, with single spaces between words.
fn header() -> String {
    let mut text = read("include/deadpan.h");
    while let Some(begin) = text.find("/*") {
        let end = begin + text[begin..].find("*/").expect("the comment ends") + 2;
        text.replace_range(begin..end, " ");
    }
    text
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn c_types(parameters: &str) -> Vec<String> {
    let one = |parameter: &str| {
        let parameter = squeezed(parameter);
        let end = parameter.trim_end_matches(|byte: char| byte.is_ascii_alphanumeric() || byte == '_').len();
        // If a parameter has a type but no name, such as `void`, the whole text is the type.
        squeezed(if end == 0 { &parameter } else { &parameter[..end] })
    };
    parameters.split(',').map(one).filter(|one| one != "void").collect()
}

fn declared() -> BTreeMap<String, Signature> {
    let mut found = BTreeMap::new();
    let text: String = header().lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line} ")).collect();
    for statement in text.split(';').map(squeezed) {
        let statement = statement.strip_prefix("extern \"C\" {").unwrap_or(&statement).trim().to_owned();
        let Some((front, parameters)) = statement.split_once('(') else { continue };
        if let Some(result) = front.strip_prefix("typedef ") {
            let (name, parameters) = parameters.split_once(")(").expect("a callback");
            let name = name.trim_start_matches('*').to_owned();
            found.insert(name, (squeezed(result), c_types(parameters.trim_end_matches(')'))));
        } else {
            let begin = front.rfind("dp_").expect("a function");
            let (result, name) = front.split_at(begin);
            found.insert(name.to_owned(), (squeezed(result), c_types(parameters.trim_end_matches(')'))));
        }
    }
    found
}

/// Returns the C type for a Rust type.
fn c_type(rust: &str) -> String {
    if let Some(inner) = rust.strip_prefix("*mut *mut ") {
        return format!("{inner} **");
    }
    if let Some(inner) = rust.strip_prefix("*const ") {
        return format!("const {} *", c_type(inner));
    }
    if let Some(inner) = rust.strip_prefix("*mut ") {
        return format!("{} *", c_type(inner));
    }
    let known = match rust {
        "u8" => "uint8_t",
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "c_char" => "char",
        "c_void" => "void",
        "Progress" => "dp_progress",
        "ReadFn" => "dp_read",
        "WriteFn" => "dp_write",
        "ReadAtFn" => "dp_read_at",
        "EntryCallback" => "dp_each",
        handle if handle.starts_with("dp_") => handle,
        other => panic!("{other} has no type in C"),
    };
    known.into()
}

fn rust_types(parameters: &str) -> Vec<String> {
    let parameters = parameters.split(',').map(squeezed).filter(|parameter| !parameter.is_empty());
    parameters.map(|parameter| c_type(parameter.split_once(": ").expect("a name and a type").1)).collect()
}

fn defined() -> BTreeMap<String, Signature> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ffi")).expect("a folder") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("text");
        let mut rest = &text[..];
        while let Some(at) = rest.find("fn dp_").filter(|_| !rest.is_empty()) {
            let is_whole = rest[..at].ends_with("extern \"C\" ");
            let (name, after) = rest[at + 3..].split_once('(').expect("parameters");
            let (parameters, after) = after.split_once(')').expect("the end of the parameters");
            let mut signature = ("int32_t".to_owned(), rust_types(parameters));
            if is_whole {
                let result = after.split_once('{').expect("a body").0.trim().trim_start_matches("-> ").trim();
                signature.0 = c_type(result);
            } else {
                signature.1.push("dp_error **".into());
            }
            found.insert(name.to_owned(), signature);
            rest = after;
        }
        // `dp_x_free(dp_x => Value);`
        for line in text.lines().filter(|line| line.trim_start().starts_with("dp_") && line.contains(" => ")) {
            let (name, rest) = line.trim().split_once('(').expect("a parenthesis");
            let handle = rest.split_once(" => ").expect("an arrow").0;
            found.insert(name.to_owned(), ("int32_t".into(), vec![format!("{handle} *")]));
        }
        // `type Name = Option<unsafe extern "C" fn(…) -> …>;`
        for alias in squeezed(&text).split("type ").skip(1).filter(|it| it.contains("= Option<unsafe extern \"C\" fn("))
        {
            let (name, rest) = alias.split_once(" = ").expect("a definition");
            let (parameters, rest) = rest.split_once("fn(").expect("a function").1.split_once(')').expect("its end");
            let result = rest.trim_start_matches(" -> ").split_once('>').expect("the end of the option").0;
            found.insert(c_type(name), (c_type(result), rust_types(parameters)));
        }
    }
    found
}

#[test]
fn the_header_declares_what_the_library_has() {
    let (declared, defined) = (declared(), defined());
    assert!(declared.len() > 60, "{} found in the header", declared.len());
    for (name, signature) in &defined {
        assert_eq!(declared.get(name), Some(signature), "{name}");
    }
    let unknown: Vec<_> = declared.keys().filter(|name| !defined.contains_key(*name)).collect();
    assert!(unknown.is_empty(), "the library lacks {unknown:?}");
}

#[test]
fn the_header_has_every_code() {
    let text = header();
    let codes: BTreeMap<i32, &str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define DP_")?.trim().split_once(' '))
        .filter(|(name, _)| name.starts_with("ERR_") || *name == "OK")
        .map(|(name, number)| (number.trim().parse().expect("a number"), name))
        .collect();
    let wanted: Vec<i32> = Code::ALL.iter().map(|code| *code as i32).collect();
    assert_eq!(codes.keys().copied().collect::<Vec<_>>(), wanted);
    // The comment after each code must be the message of this code.
    let commented = read("include/deadpan.h");
    for code in Code::ALL.iter().skip(1) {
        assert!(commented.contains(&format!(" {} ", *code as i32)), "{code:?}");
        assert!(commented.contains(&format!("/* {} */", code.message())), "{}", code.message());
    }
}
