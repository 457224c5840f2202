//! Tests prompts, echo and progress on a real pseudo-terminal.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use crate::sandbox::session::Session;
use crate::sandbox::{Sandbox, skip};

#[test]
fn a_passphrase_is_asked_for_twice_and_not_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "straight face");
    let mut session = Session::start(&sandbox, &["seal", "-p", "a.txt"]);
    session.expect("new passphrase for the sealed file (empty for ten random words): ").say("correct horse");
    session.expect("the same again: ").say("correct hose").expect("they differ, try again");
    session.expect("new passphrase").say("correct horse").expect("the same again: ").say("correct horse");
    let shown = session.end(0);
    assert!(!shown.contains("horse") && !shown.contains("hose"), "{shown}");
    assert!(shown.contains("seal: a.txt -> a.txt.dpn"), "{shown}");

    let mut session = Session::start(&sandbox, &["open", "-o", "b.txt", "a.txt.dpn"]);
    session.expect("passphrase for a.txt.dpn: ").say("wrong").expect("the passphrase does not fit, try again");
    session.expect("passphrase for a.txt.dpn: ").say("correct horse");
    session.end(0);
    assert_eq!(sandbox.read("b.txt"), b"straight face");

    let mut session = Session::start(&sandbox, &["open", "-o", "c.txt", "a.txt.dpn"]);
    for _ in 0..3 {
        session.expect("passphrase for a.txt.dpn: ").say("wrong");
    }
    let shown = session.end(3);
    assert!(shown.contains("the passphrase does not fit a.txt.dpn") && shown.contains("hint: "), "{shown}");
    assert!(!sandbox.path("c.txt").exists());
}

#[test]
fn the_first_key_is_protected_if_wanted() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "straight face");
    let mut session = Session::start(&sandbox, &["seal", "a.txt"]);
    session
        .expect("passphrase for your new key")
        .expect("(empty for none): ")
        .say("secret")
        .expect("the same again: ")
        .say("secret");
    let shown = session.end(0);
    assert!(shown.contains("made one: ") && !shown.contains("not protected"), "{shown}");
    let key = String::from_utf8(sandbox.read("home/hybrid.key")).unwrap();
    assert_eq!(key.lines().nth(1), Some("-----BEGIN ENCRYPTED PRIVATE KEY-----"));

    // The key is unlocked once for both files.
    sandbox.run(&["seal", "-o", "b.dpn", "a.txt"]).expect(0, "");
    let mut session = Session::start(&sandbox, &["open", "--verify", "a.txt.dpn", "b.dpn"]);
    session.expect("passphrase for ").expect("hybrid.key: ").say("secret");
    let shown = session.end(0);
    assert_eq!(shown.matches("passphrase for").count(), 1, "{shown}");

    let mut session = Session::start(&sandbox, &["keys", "protect", "hybrid"]);
    session
        .expect("hybrid.key: ")
        .say("secret")
        .expect("new passphrase for the key")
        .say("other")
        .expect("again: ")
        .say("other");
    assert!(session.end(0).contains("has a new passphrase"));
    let mut session = Session::start(&sandbox, &["keys", "unprotect", "hybrid"]);
    session.expect("hybrid.key: ").say("other");
    assert!(session.end(0).contains("is not protected any more"));
}

#[test]
fn an_empty_answer_means_no_protection() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "straight face");
    let mut session = Session::start(&sandbox, &["seal", "a.txt"]);
    session.expect("(empty for none): ").say("");
    let shown = session.end(0);
    assert!(shown.contains("protect it with: deadpan keys protect hybrid"), "{shown}");
    sandbox.run(&["open", "-o", "-", "a.txt.dpn"]).expect(0, "");
}

#[test]
fn an_empty_answer_for_a_new_passphrase_makes_one_of_ten_words() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("a.txt", "straight face");
    for (args, open) in [
        (&["seal", "-p", "a.txt"][..], &["open", "-o", "-", "--passphrase-file", "words", "a.txt.dpn"][..]),
        (&["keys", "protect", "ecc"], &["keys", "unprotect", "ecc", "--passphrase-file", "words"]),
    ] {
        let mut session = Session::start(&sandbox, args);
        session.expect("new passphrase for ").expect(" (empty for ten random words): ").say("");
        let shown = session.end(0);
        let words = shown.lines().find_map(|line| line.trim().strip_prefix("the passphrase is: ")).unwrap_or(&shown);
        assert_eq!(words.split('-').count(), 10, "{shown}");
        sandbox.write("words", words);
        sandbox.run(open).expect(0, "");
    }
    // A new key may have no passphrase.
    let mut session = Session::start(&sandbox, &["keygen"]);
    session.expect("new passphrase for the key").expect(" (empty for none): ").say("");
    assert!(session.end(0).contains("note: the key is not protected by a passphrase"));
}

#[test]
fn a_terminal_gets_text_only() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("text", "straight face\n");
    sandbox.write("bytes", b"\x1b[2Jgone\0");
    sandbox.run(&["seal", "text", "bytes"]).expect(0, "");
    let shown = Session::start(&sandbox, &["seal", "-o", "-", "text"]).end(2);
    assert!(shown.contains("sealed data are bytes, and a terminal shows text") && shown.contains("--armor"), "{shown}");
    assert!(
        Session::start(&sandbox, &["seal", "-a", "-o", "-", "text"])
            .end(0)
            .contains("-----END DEADPAN SEALED FILE-----")
    );
    for page in
        [&["seal", "--html", "-o", "-", "text"][..], &["seal", "--html", "-a", "-o", "-", "text"], &["page", "-o", "-"]]
    {
        let shown = Session::start(&sandbox, page).end(2);
        assert!(shown.contains("a page is for browsers, and a terminal shows text"), "{shown}");
    }
    assert!(Session::start(&sandbox, &["open", "-o", "-", "text.dpn"]).end(0).contains("straight face"));
    let shown = Session::start(&sandbox, &["open", "-o", "-", "bytes.dpn"]).end(2);
    assert!(shown.contains("bytes.dpn holds bytes, and a terminal shows text") && !shown.contains("gone"), "{shown}");
    sandbox.shell("mkdir tree && cp bytes tree && deadpan seal tree && deadpan seal -a -o armored tree").expect(0, "");
    for file in ["tree.dpn", "armored"] {
        let shown = Session::start(&sandbox, &["open", "--only", "bytes", "-o", "-", file]).end(2);
        assert!(
            shown.contains("a terminal shows text, and the data are not text") && !shown.contains("gone"),
            "{shown}"
        );
    }
}

#[test]
fn open_without_a_file_says_that_it_reads_from_the_terminal() {
    let sandbox = Sandbox::with_key("hybrid");
    let mut session = Session::start(&sandbox, &["open"]);
    session
        .expect("note: reading from the terminal; name a FILE instead, or end the input with Ctrl-D")
        .say(&"\x04".repeat(8));
    session.end(1);
}

#[test]
fn commands_without_arguments_say_one_thing_on_a_terminal() {
    let sandbox = Sandbox::with_key("hybrid");
    for (command, message) in [
        ("seal", "sealed data are bytes, and a terminal shows text"),
        ("random", "random data are bytes, and a terminal shows text"),
        ("unpack", "an archive is bytes, and a terminal gives text"),
        ("pack", "the following required arguments were not provided"),
    ] {
        let shown = Session::start(&sandbox, &[command]).end(2);
        assert!(shown.contains(message) && !shown.contains("reading from the terminal"), "{shown}");
        assert_eq!(shown.matches("error: ").count(), 1, "{shown}");
    }
    for (command, code) in [("list", 1), ("inspect", 1)] {
        let mut session = Session::start(&sandbox, &[command]);
        session.expect("note: reading from the terminal").say(&"\x04".repeat(8));
        session.end(code);
    }
    // The note that the program waits for typed data comes only after all checks that can refuse the command.
    let mut session = Session::start(&sandbox, &["seal", "-r", "hybrid", "-o", "typed.dpn"]);
    session.expect("note: reading from the terminal").say("straight face\n\x04");
    session.end(0);
    sandbox.run(&["open", "-o", "typed", "typed.dpn"]).expect(0, "");
    assert!(sandbox.read("typed").starts_with(b"straight face\n"));
}

#[test]
fn random_bytes_reach_a_terminal_as_text_only() {
    let sandbox = Sandbox::new();
    let shown = Session::start(&sandbox, &["random", "32"]).end(2);
    assert!(shown.contains("random data are bytes, and a terminal shows text") && shown.contains("--hex"), "{shown}");
    let shown = Session::start(&sandbox, &["random", "32", "--hex"]).end(0);
    assert_eq!(shown.trim().len(), 64, "only the digits: {shown}");
}

#[test]
fn sealed_names_cannot_control_the_terminal() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.write("evil\x1b[2J\nx", "x");
    sandbox.shell("mkdir out; deadpan seal -o plain evil*").expect(0, "");
    let shown = Session::start(&sandbox, &["open", "-o", "out", "plain"]).end(2);
    assert!(
        shown.contains("the sealed name evil\\u{1b}[2J\\nx has characters that a terminal does not show"),
        "{shown}"
    );
}

#[test]
fn ctrl_c_at_the_prompt_restores_the_terminal() {
    let sandbox = Sandbox::new();
    let mut session = Session::start(&sandbox, &["keygen"]);
    session.expect("new passphrase for the key");
    let modes = rustix::termios::tcgetattr(&session.terminal).unwrap().local_modes;
    assert!(!modes.contains(rustix::termios::LocalModes::ECHO), "the passphrase would be shown");
    session.terminal.write_all(&[3]).unwrap();
    let status = session.child.wait().unwrap();
    assert_eq!(status.signal(), Some(2));
    let modes = rustix::termios::tcgetattr(&session.terminal).unwrap().local_modes;
    assert!(modes.contains(rustix::termios::LocalModes::ECHO), "echo is still off");
    assert!(!sandbox.path("home").exists());
}

#[test]
fn a_long_run_shows_a_bar() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox
        .shell("mkfifo slow; (for i in 1 2 3; do head -c 3000000 /dev/zero; sleep 0.6; done > slow) > /dev/null 2>&1 &")
        .expect(0, "");
    let shown = Session::start(&sandbox, &["seal", "-o", "out", "slow"]).end(0);
    assert!(shown.contains("MiB/s"), "{shown}");
    sandbox.write("quick", "x");
    loop {
        let start = Instant::now();
        let shown = Session::start(&sandbox, &["seal", "-f", "quick"]).end(0);
        // On a busy machine, the run can take more than a second.
        if start.elapsed() < Duration::from_secs(1) {
            break assert!(!shown.contains("B/s"), "{shown}");
        }
    }
}

#[test]
fn ctrl_z_and_fg_at_the_prompt_echo_nothing_and_ask_again() {
    // dash does not change the state of the terminal after a program was stopped. bash sets its own modes for its
    // prompt.
    for shell in [&["dash", "-i"][..], &["bash", "--norc", "--noprofile", "-i"]] {
        let sandbox = Sandbox::new();
        if sandbox.shell(&format!("command -v {}", shell[0])).code() != Some(0) {
            skip("Ctrl-Z at a prompt", &format!("{} is missing", shell[0]));
            continue;
        }
        let mut session = Session::of(&sandbox, shell[0], &shell[1..]);
        session.say("PS1='ready> '; deadpan keygen; echo code $?");
        for _ in 0..2 {
            session.expect("new passphrase for the key").expect(".key (empty for none): ").expect_echo(false);
            session.terminal.write_all(b"begun").unwrap();
            session.control(b'Z').expect("Stopped");
            if shell[0] == "dash" {
                session.expect("ready> ").expect_echo(true);
            }
            session.say("echo at the shell").expect("at the shell").expect("at the shell\r\n");
            session.say("fg");
        }
        session
            .expect("new passphrase for the key")
            .expect(".key (empty for none): ")
            .expect_echo(false)
            .say("correct horse");
        session.expect("the same again: ").say("correct horse").expect("fingerprint: ").expect("ready> ");
        if shell[0] == "dash" {
            session.expect_echo(true);
        }
        session.say("exit 7");
        let shown = session.end(7);
        assert!(!shown.contains("horse") && !shown.contains("begun"), "{shown}");
        sandbox.write("a.txt", "straight face");
        sandbox.run(&["seal", "a.txt"]).expect(0, "");
        sandbox.shell("DEADPAN_PASSPHRASE='correct horse' deadpan open -o b.txt a.txt.dpn").expect(0, "");
    }
}

#[test]
fn ctrl_z_does_not_stop_a_program_without_a_shell() {
    let sandbox = Sandbox::new();
    let mut session = Session::start(&sandbox, &["keygen"]);
    session.expect(".key (empty for none): ").expect_echo(false).control(b'Z');
    session.say("correct horse").expect("the same again: ").say("correct horse");
    assert!(!session.end(0).contains("horse"));
}

#[test]
fn sealing_to_oneself_names_the_key_on_a_terminal() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("a.txt", "straight face");
    let shown = Session::start(&sandbox, &["seal", "a.txt"]).end(0);
    assert!(shown.contains("note: sealing to your own key ecc (X25519)"), "{shown}");
    let shown = Session::start(&sandbox, &["seal", "-f", "-r", "ecc", "a.txt"]).end(0);
    assert!(!shown.contains("note: "), "{shown}");
}

/// Returns each line that a bar drew, without the characters that erase the line.
fn bars(shown: &str) -> Vec<&str> {
    shown.split("\r\x1b[K").filter(|line| line.contains("iB")).map(|line| line.lines().next().unwrap()).collect()
}

#[test]
fn the_bar_fits_forty_columns_and_estimates_the_time_left() {
    let sandbox = Sandbox::new();
    // The reader first reads 8 MiB, and then 400 KiB a second, so the last MiB takes seconds.
    let reader = "(head -c 8388608; for i in {1..24}; do sleep 0.3; head -c 131072; done; cat) > /dev/null";
    let line = format!("stty columns 40; deadpan random 12M | {reader}");
    let shown = Session::of(&sandbox, "bash", &["-c", &line]).end(0);
    let bars = bars(&shown);
    assert!(bars.len() > 3 && bars.iter().all(|bar| bar.chars().count() < 40), "{shown:?}");
    let left = |bar: &str| bar.strip_suffix(" s left").and_then(|bar| bar.rsplit(' ').next()?.parse::<u32>().ok());
    assert!(bars.iter().filter_map(|bar| left(bar)).any(|seconds| seconds > 1), "{shown:?}");
    assert!(bars.iter().all(|bar| left(bar) != Some(0) || bar.contains("12 MiB/12 MiB")), "{shown:?}");
}

#[test]
fn a_folder_has_a_bar_with_rate_and_time_left() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox.shell("mkdir -p tree/inner && deadpan random 6M -o tree/inner/a && cp tree/inner/a tree/b").expect(0, "");
    // The reader first reads 1 MiB, and then 4 MiB a second.
    let reader = "(head -c 1048576; for i in {1..12}; do sleep 0.25; head -c 1048576; done; cat) > /dev/null";
    // The four readers sleep most of the time, so they run at the same time.
    let sessions =
        [("seal -r hybrid", 40), ("seal -r hybrid", 80), ("pack", 40), ("pack", 80)].map(|(command, columns)| {
            let line = format!("stty columns {columns}; deadpan {command} -o - tree | {reader}");
            (columns, Session::of(&sandbox, "bash", &["-c", &line]))
        });
    for (columns, session) in sessions {
        let shown = session.end(0);
        let bars = bars(&shown);
        assert!(bars.len() > 3 && bars.iter().all(|bar| bar.chars().count() < columns), "{shown:?}");
        // The length of the archive is known after the first bars, and does not change.
        let known = bars.iter().filter(|bar| bar.contains("/12 MiB") && bar.ends_with(" left")).count();
        assert!(known > 3 && known + 2 >= bars.len(), "{shown:?}");
        assert!(columns < 80 || bars.iter().any(|bar| bar.contains("=>") && bar.contains("MiB/s, ")), "{shown:?}");
    }
}

#[test]
fn a_note_does_not_overwrite_the_bar() {
    let sandbox = Sandbox::with_key("hybrid");
    sandbox
        .shell(
            "mkfifo slow; (for i in 1 2 3 4; do head -c 3000000 /dev/zero; sleep 0.6; done > slow) > /dev/null 2>&1 &",
        )
        .expect(0, "");
    let shown = Session::start(&sandbox, &["seal", "-o", "out", "slow"]).end(0);
    let last = shown.rsplit("\r\x1b[K").next().unwrap();
    assert!(last.starts_with("seal: slow -> out"), "{shown:?}");
}

/// In an earlier version, the bar and the armor were on the same line.
#[test]
fn armor_and_typed_text_have_no_bar_between_them() {
    let sandbox = Sandbox::with_key("ecc");
    let mut session = Session::start(&sandbox, &["seal", "-a", "-r", "ecc"]);
    session.expect("note: reading from the terminal").say("first");
    std::thread::sleep(Duration::from_millis(1500));
    session.say("second").control(b'D');
    let shown = session.end(0);
    assert!(shown.contains("-----END DEADPAN") && !shown.contains("B/s"), "{shown}");
}

/// In an earlier version, the cursor stayed on the line of the question after Ctrl-D, and the error said that nothing
/// was typed.
#[test]
fn ctrl_d_at_the_prompt_is_no_passphrase() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("a.txt", "straight face");
    sandbox.shell("echo secret > pass; deadpan seal --passphrase-file pass -o p.dpn a.txt").expect(0, "");
    for (args, question) in [
        (&["seal", "-p", "a.txt"][..], "new passphrase for the sealed file (empty for ten random words): "),
        (&["open", "-o", "-", "p.dpn"], "passphrase for p.dpn: "),
        (&["keys", "protect", "ecc"], "new passphrase for the key"),
    ] {
        let mut session = Session::start(&sandbox, args);
        session.expect(question).expect_echo(false).control(b'D');
        session.expect("\r\nerror: no passphrase was given\r\nhint: type it, then Enter").expect_echo(true);
        session.end(3);
    }
    assert_eq!(sandbox.names(), ["a.txt", "p.dpn", "pass"]);
}

#[test]
fn a_listing_has_local_times_with_their_zone() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkdir p && touch -d 2001-02-03T04:05:06Z p && tar cf p.tar p").expect(0, "");
    let listed = |zone: &str| Session::of(&sandbox, "env", &[zone, "deadpan", "list", "p.tar"]).end(0);
    for (zone, time) in [
        ("TZ=XYZ-1", "2001-02-03 05:05:06 +0100 p/"),
        ("TZ=XYZ3:30", "2001-02-03 00:35:06 -0330 p/"),
        ("TZ=UTC0", "2001-02-03 04:05:06 +0000 p/"),
    ] {
        let shown = listed(zone);
        assert!(shown.contains(time), "{zone}: {shown}");
    }
}

#[test]
fn quiet_shows_no_line_on_a_terminal() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("a.txt", "straight face");
    assert_eq!(Session::start(&sandbox, &["-q", "seal", "a.txt"]).end(0), "");
    assert_eq!(Session::start(&sandbox, &["open", "-q", "-f", "a.txt.dpn"]).end(0), "");
    assert!(Session::start(&sandbox, &["-q", "open", "a.txt.dpn"]).end(2).contains("error: a.txt exists already"));
}

/// In an earlier version, the message said that no key fits, and listed the keys that were tried.
#[test]
fn an_empty_answer_of_open_is_said_to_be_no_passphrase() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("a.txt", "straight face");
    sandbox.shell("echo secret > pass; deadpan seal --passphrase-file pass -o p.dpn a.txt").expect(0, "");
    sandbox.shell("deadpan keys protect --passphrase-file pass ecc; deadpan seal -o k.dpn a.txt").expect(0, "");
    for file in ["p.dpn", "k.dpn"] {
        let mut session = Session::start(&sandbox, &["open", "-o", "-", file]);
        session.expect("passphrase for ").expect(": ").say("");
        let shown = session.end(3);
        assert!(shown.contains("no passphrase was given for ") && !shown.contains("no key fits"), "{shown}");
    }
}

/// An earlier version kept the terminal modes that bash had set for editing a line, so Enter did not end the
/// passphrase.
#[test]
fn a_prompt_that_begins_in_the_background_takes_enter_after_fg() {
    let sandbox = Sandbox::with_key("ecc");
    if sandbox.shell("command -v bash").code() != Some(0) {
        return skip("a prompt in the background", "bash is missing");
    }
    sandbox.write("a.txt", "straight face");
    sandbox.shell("echo secret > pass; deadpan seal --passphrase-file pass -o p.dpn a.txt").expect(0, "");
    let mut session = Session::of(&sandbox, "bash", &["--norc", "--noprofile", "-i"]);
    // The state T means that a program is stopped.
    let stopped = r#"until [[ $(< /proc/$!/stat) == *") T "* ]]; do sleep 0.1; done"#;
    session.say(&format!("PS1='ready> '; deadpan open -o b.txt p.dpn & {stopped}"));
    session.expect("ready> ").say("");
    session.expect("Stopped").expect("ready> ").say("fg");
    // A terminal sends a carriage return for Enter.
    session.expect("passphrase for p.dpn: ").expect_echo(false).type_in("secret\r");
    session.expect("open: p.dpn -> b.txt").expect("ready> ").say("exit");
    session.end(0);
    assert_eq!(sandbox.read("b.txt"), b"straight face");
}

/// Starts `deadpan` on a terminal, with a plugin whose behavior is `manner`.
fn with_plugin(sandbox: &Sandbox, manner: &str, args: &str) -> Session {
    let line = format!("PATH=$PWD/bin:$PATH DUMMY={manner} exec deadpan {args}");
    Session::of(sandbox, "sh", &["-c", &line])
}

#[test]
fn plugins_ask_on_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox
        .shell("mkdir bin && ln -s $PLUGINS/age-plugin-dummy bin && echo AGE-PLUGIN-DUMMY-1QYPQXTZ7LX4 > id")
        .expect(0, "");
    sandbox.write("a.txt", "straight face");
    let seal = "seal -f -r age1dummy1qypqxvy7tqt a.txt";
    let open = "open --verify -i id a.txt.dpn";
    for args in [seal, open] {
        let mut session = with_plugin(&sandbox, "secret", args);
        session.expect("age-plugin-dummy: the PIN: ").expect_echo(false).say("1234");
        let shown = session.end(0);
        assert!(!shown.contains("1234"), "{shown}");
    }
    let mut session = with_plugin(&sandbox, "secret", open);
    session.expect("age-plugin-dummy: the PIN: ").say("4321");
    assert!(session.end(3).contains("age-plugin-dummy refuses the identity: the PIN is wrong"));

    let choice = "age-plugin-dummy: type 1 for \"plugged in\", 2 for \"skip\": ";
    let mut session = with_plugin(&sandbox, "confirm", open);
    session.expect("age-plugin-dummy: plug in the key").expect(choice).say("3").expect(choice).say("1");
    session.end(0);
    let mut session = with_plugin(&sandbox, "confirm", open);
    session.expect(choice).say("2");
    assert!(session.end(4).contains("age-plugin-dummy failed: no key: -> ok no"));

    let mut session = with_plugin(&sandbox, "public", open);
    session.expect("age-plugin-dummy: your name: ").expect_echo(true).say("alice");
    assert!(session.end(0).contains("age-plugin-dummy: public: -> ok YWxpY2U"));

    let shown = with_plugin(&sandbox, "message", open).end(0);
    assert!(shown.contains("age-plugin-dummy: touch your key"), "{shown}");
    let shown = with_plugin(&sandbox, "control", open).end(0);
    assert!(shown.contains("age-plugin-dummy: now\\u{202e}") && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn ctrl_c_ends_a_silent_plugin() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkdir bin && ln -s $PLUGINS/age-plugin-dummy bin").expect(0, "");
    sandbox.write("a.txt", "straight face");
    let mut session = with_plugin(&sandbox, "silent", "seal -r age1dummy1qypqxvy7tqt a.txt");
    // After five seconds without an answer, a note names the plugin that the program waits for.
    session.expect("note: waiting for age-plugin-dummy").control(b'c');
    let status = session.child.wait().unwrap();
    assert_eq!(status.signal(), Some(2));
    assert_eq!(sandbox.names(), ["a.txt", "bin"]);
}

/// A user who seals only to other people may notice too late that the user's own key is not among the recipients.
#[test]
fn sealing_only_to_others_is_told_on_a_terminal() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.write("a.txt", "straight face");
    sandbox.shell("deadpan keygen --mode ecc --no-passphrase -o bob.key").expect(0, "");
    let note = "note: only others can open this, and you cannot; your own key is one more: -r ecc";
    for (args, told) in [
        (&["seal", "-f", "-r", "bob.pub", "a.txt"][..], true),
        (&["picture", "hide", "-f", "-r", "bob.pub", "a.txt"], true),
        (&["seal", "-f", "-r", "bob.pub", "-r", "ecc", "a.txt"], false),
        (&["seal", "-f", "a.txt"], false),
    ] {
        let shown = Session::start(&sandbox, args).end(0);
        assert_eq!(shown.contains(note), told, "{args:?}: {shown}");
    }
    // Without a terminal, there is no note.
    let run = sandbox.run(&["seal", "-f", "-r", "bob.pub", "a.txt"]).expect(0, "");
    assert!(!run.stderr().contains("note: "), "{}", run.stderr());
}

#[test]
fn words_of_a_key_are_asked_for_and_after_a_mistake_once_more() {
    let sandbox = Sandbox::with_key("ecc");
    sandbox.shell("deadpan keys backup ecc > words").expect(0, "");
    let words = String::from_utf8(sandbox.read("words")).unwrap();
    let mut session = Session::start(&sandbox, &["keys", "restore", "again", "--no-passphrase"]);
    session.expect("type the words, in any number of lines; ").say("zoo").control(b'D');
    session.expect("it has 1 word, ").expect("; type all words again:");
    for line in words.lines() {
        session.say(line);
    }
    session.control(b'D');
    session.end(0);
    assert_eq!(sandbox.read("home/again.pub"), sandbox.read("home/ecc.pub"));
}
