//! Compares the table of instructions with what an emulated CPU does. For each instruction, a program finds out by
//! trying which results depend on which operands, and the audit must know each of these dependencies.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::{Flow, MACHINE};
use crate::asm::image::Image;
use crate::asm::state::State;
use crate::asm::transfer;
use crate::asm::value::Value;

const FLAGS: usize = 96;
const MEMORY: usize = 97;
const PARTS: usize = 98;
/// The stack stands for memory: the instructions access 512 bytes around this offset.
const PLACE: i64 = -512;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/aarch64");

#[test]
fn every_dependency_is_known() {
    let present = |program: &&&str| Command::new(program).arg("--version").output().is_ok();
    let compiler = "aarch64-linux-gnu-gcc";
    let Some(qemu) = ["qemu-aarch64-static", "qemu-aarch64"].iter().find(present).filter(|_| present(&&compiler))
    else {
        // The test harness hides what `println!` prints, so this code writes directly to standard error.
        return writeln!(std::io::stderr(), "skipped: the test needs {compiler} and qemu-aarch64-static").unwrap();
    };
    let program = std::env::temp_dir().join(format!("deadpan-dependencies-{}", std::process::id()));
    let source = format!("{FOLDER}/dependencies.c");
    let built = Command::new(compiler).args(["-O1", "-static", "-o"]).arg(&program).arg(source).status().unwrap();
    assert!(built.success());
    let instructions = format!("{FOLDER}/instructions.txt");
    let input = std::fs::File::open(&instructions).unwrap();
    let output =
        Command::new(qemu).args(["-cpu", "max"]).arg(&program).stdin(input).stderr(Stdio::inherit()).output().unwrap();
    std::fs::remove_file(program).unwrap();
    assert!(output.status.success());
    let found = String::from_utf8(output.stdout).unwrap();
    let asked = std::fs::read_to_string(instructions).unwrap();
    assert_eq!(found.lines().count(), asked.lines().count());
    for (found, instruction) in found.lines().zip(asked.lines()) {
        let known = known(instruction);
        let missed: Vec<&str> = found.split(' ').skip(1).filter(|pair| !known.contains(*pair)).collect();
        assert!(missed.is_empty(), "{instruction}: the audit does not know {missed:?}");
    }
}

/// Returns the dependencies of an instruction that the audit knows, in the form that `dependencies.c` prints.
fn known(line: &str) -> BTreeSet<String> {
    let (word, text) = line.split_once(' ').unwrap();
    let word = u32::from_str_radix(word, 16).unwrap();
    let instruction = super::decode(&word.to_le_bytes(), 0, 0x1000).unwrap();
    assert_ne!(instruction.flow, Flow::Unknown, "{text}");
    let image = Image::from_code(&MACHINE, 0x1000, word.to_le_bytes().to_vec(), &[], &[]);
    let accesses = text.contains("[x1");
    let after = |input: usize, base: Value| {
        let mut state = State::at_entry(&MACHINE);
        match input {
            FLAGS => state.flags = super::registers::FLAGS,
            MEMORY => {}
            part => state.secret = 1 << part,
        }
        if accesses {
            state.values[1] = base;
            state.stack.publish(PLACE - 256, PLACE + 256);
        }
        // Findings are the business of other tests.
        transfer::step(&image, &BTreeSet::new(), &mut state, &instruction);
        state
    };
    let mut pairs = BTreeSet::new();
    for input in 0..PARTS {
        // Constants of the object are public, and memory at an unknown address is secret.
        let state = after(input, if input == MEMORY { Value::Unknown } else { Value::Static });
        pairs.extend((0..FLAGS).filter(|part| state.secret >> part & 1 == 1).map(|part| format!("{input}>{part}")));
        if state.flags != 0 {
            pairs.insert(format!("{input}>{FLAGS}"));
        }
        if accesses && input != MEMORY && !after(input, Value::Stack(PLACE)).stack.is_public(PLACE - 256, 512) {
            pairs.insert(format!("{input}>{MEMORY}"));
        }
    }
    pairs
}
