//! Recovery data: hostile names and sidecars, and outputs that end early.

use crate::sandbox::Sandbox;

fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn names_are_escaped() {
    let sandbox = Sandbox::new();
    let name = "a\x1b[2Jb\n.bin";
    sandbox.write(name, noise(5000));
    sandbox.run(&["repair", "make", name]).expect(0, "");
    let mut damaged = noise(5000);
    damaged[100] ^= 1;
    sandbox.write(name, &damaged);
    let run = sandbox.run(&["repair", "check", name]);
    assert_eq!(run.code(), Some(1));
    assert!(
        run.stderr().contains(r"a\u{1b}[2Jb\n.bin is damaged") && !run.stderr().contains('\x1b'),
        "{}",
        run.stderr()
    );
    let run = sandbox.run(&["repair", "fix", "--json", name]);
    assert_eq!(run.code(), Some(0), "{}", run.stderr());
    assert!(run.stdout().iter().all(|byte| *byte != 0x1b));
    assert_eq!(sandbox.read(&format!("{name}.repaired")), noise(5000));
}

/// A sidecar that states a file of 4 TiB is refused before any memory is reserved or any output is made.
#[test]
fn a_sidecar_cannot_ask_for_a_huge_file() {
    let sandbox = Sandbox::new();
    sandbox.write("file", noise(5000));
    sandbox.run(&["repair", "make", "file"]).expect(0, "");
    let mut sidecar = sandbox.read("file.dpr");
    sidecar[12..16].copy_from_slice(&(1u32 << 14).to_be_bytes());
    sidecar[16..24].copy_from_slice(&(1u64 << 42).to_be_bytes());
    sidecar[24..28].copy_from_slice(&(1u32 << 19).to_be_bytes());
    sidecar[28..32].copy_from_slice(&[2, 0, 2, 0]);
    let hash = blake3::hash(&sidecar[..64]);
    sidecar[64..96].copy_from_slice(hash.as_bytes());
    sandbox.write("file.dpr", &sidecar);
    for command in ["check", "fix"] {
        let run = sandbox.run(&["repair", command, "file"]);
        assert_eq!(run.code(), Some(1));
        assert!(run.stderr().contains("too much is damaged: 4.0 TiB are missing"), "{}", run.stderr());
    }
    assert!(!sandbox.path("file.repaired").exists());
}

/// The sidecar of another version of the file makes that version, and never a mixture.
#[test]
fn an_old_sidecar_makes_the_old_file_or_nothing() {
    let sandbox = Sandbox::new();
    let old = noise(400_000);
    sandbox.write("file", &old);
    sandbox.run(&["repair", "make", "file"]).expect(0, "");
    let mut new = old.clone();
    new[200_000..210_000].fill(0);
    sandbox.write("file", &new);
    sandbox.run(&["repair", "fix", "file"]).expect(0, "");
    assert!(sandbox.read("file.repaired") == old);
    new[..100_000].fill(0);
    sandbox.write("file", &new);
    assert_eq!(sandbox.run(&["repair", "fix", "-f", "file"]).code(), Some(1));
    assert!(sandbox.read("file.repaired") == old);
}
