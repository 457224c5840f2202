//! Tests of the protocol with simulated plugins, which send fixed text, and tests of entries with stanzas that are not
//! well formed.

use std::sync::Mutex;

use super::*;
use crate::Fault;

/// A plugin that sends all its lines immediately. This plugin does not react to the client's messages.
struct Script<'a> {
    says: &'a [u8],
    /// The maximum number of bytes that one call of `receive` returns.
    step: usize,
    heard: Vec<u8>,
}

impl<'a> Script<'a> {
    fn new(says: &'a str) -> Self {
        Self { says: says.as_bytes(), step: usize::MAX, heard: Vec::new() }
    }

    fn heard(&self) -> String {
        String::from_utf8(self.heard.clone()).expect("text")
    }
}

impl Pipe for Script<'_> {
    fn send(&mut self, bytes: &[u8], _: Duration) -> Result<(), Reason> {
        self.heard.extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], _: Duration) -> Result<usize, Reason> {
        let length = self.says.len().min(buffer.len()).min(self.step);
        buffer[..length].copy_from_slice(&self.says[..length]);
        self.says = &self.says[length..];
        Ok(length)
    }
}

use std::time::Duration;

/// A dialog that answers all questions and records them.
#[derive(Default)]
struct Clerk(Mutex<Vec<Question>>);

impl Dialog for Clerk {
    fn ask(&self, program: &str, question: &Question) -> Answer {
        assert_eq!(program, "age-plugin-dummy");
        self.0.lock().expect("no panic").push(question.clone());
        match question {
            Question::Message(_) => Answer::Done,
            Question::Confirm { yes, .. } if yes == "go" => Answer::Yes,
            Question::Confirm { .. } => Answer::No,
            Question::Public(_) => Answer::Text(Secret::copy_of(b"name")),
            Question::Secret(_) => Answer::Text(Secret::copy_of(&[b'1'; 48])),
            _ => Answer::Nobody,
        }
    }
}

/// Returns the line of a recipient or an identity with this prefix.
fn line(prefix: &str) -> String {
    let case = if prefix.starts_with("age1") { bech32::Case::Lower } else { bech32::Case::Upper };
    String::from_utf8(bech32::encode(prefix, case, &[1, 2, 3]).to_vec()).expect("text")
}

use crate::key::bech32;

fn recipient() -> Recipient {
    Recipient::parse(&line("age1dummy")).expect("a recipient")
}

fn identity() -> Identity {
    Identity::parse(line("AGE-PLUGIN-DUMMY-").as_bytes()).expect("an identity")
}

fn keys(count: usize) -> Vec<Secret> {
    (0..count).map(|number| Secret::copy_of(&[number as u8; KEY])).collect()
}

fn wrap(says: &str) -> Result<Wrapping, PluginError> {
    recipient().wrap_over(&mut Script::new(says), &keys(2))
}

fn files() -> Vec<Vec<AgeStanza>> {
    let stanza = |tag: &str| AgeStanza { tag: tag.into(), args: vec!["a".into()], body: vec![7; 48] };
    vec![vec![stanza("dummy"), stanza("other")], vec![stanza("X25519")]]
}

fn unwrap(says: &str) -> Result<Vec<Option<Secret>>, PluginError> {
    identity().unwrap_over(&mut Script::new(says), &files())
}

#[test]
fn names_are_strict() {
    for name in ["yubikey", "a", "x.y_z+1-2", "1", "se", &"n".repeat(128)] {
        let recipient = Recipient::parse(&line(&format!("age1{name}"))).expect(name);
        assert_eq!((recipient.name(), recipient.text()), (name, Some(&*line(&format!("age1{name}")))));
        let upper = line(&format!("age1{name}")).to_ascii_uppercase();
        assert_eq!(Recipient::parse(&upper).expect(name).text(), recipient.text());
        let identity = line(&format!("AGE-PLUGIN-{}-", name.to_ascii_uppercase()));
        assert_eq!(Identity::parse(identity.as_bytes()).expect(name).name(), name);
        let recipient = Identity::parse(identity.to_ascii_lowercase().as_bytes()).expect(name).to_recipient();
        assert_eq!((recipient.name(), recipient.text()), (name, None));
    }
    for name in ["", "a/b", "../a", "a b", "a\\b", "a:b", "a~", "a*", "a\u{e4}", &"n".repeat(129)] {
        let error = Recipient::parse(&line(&format!("age1{name}"))).expect_err(name);
        assert!(matches!(error, InvalidName::Name | InvalidName::Prefix), "{name:?}: {error}");
        let identity = line(&format!("AGE-PLUGIN-{}-", name.to_ascii_uppercase()));
        assert!(Identity::parse(identity.as_bytes()).is_err(), "{name:?}");
    }
    for text in ["", "1", "age1", "age1dummy", "age11qqqqqq", "AGE-PLUGIN-DUMMY1QQQQQQ", "AGE-PLUGIN-1QQQQQQ"] {
        assert!(Recipient::parse(text).is_err() && Identity::parse(text.as_bytes()).is_err(), "{text}");
    }
    for text in [line("age1dummy"), line("AGE-PLUGIN-DUMMY-")] {
        for place in 0..text.len() {
            let mut bad = text.clone().into_bytes();
            bad[place] = if bad[place] == b'q' || bad[place] == b'Q' { b'x' } else { bad[place] ^ 1 };
            let name = |text: &[u8]| Recipient::parse(str::from_utf8(text).expect("text")).map(|it| it.name().len());
            assert!(name(&bad).is_err() && Identity::parse(&bad).is_err(), "{place} of {text}");
        }
    }
}

#[test]
fn a_key_is_wrapped() {
    let says = "-> labels postquantum\n\n-> recipient-stanza 1 b x y\nAAAA\n-> recipient-stanza 0 a\n\n\
                -> recipient-stanza 1 c\n\n-> done\n\n";
    for step in [1, 2, 3, 7, 1000] {
        let mut script = Script { step, ..Script::new(says) };
        let wrapping = recipient().wrap_over(&mut script, &keys(2)).expect("wrapped");
        assert_eq!(wrapping.labels, ["postquantum"]);
        let tags: Vec<Vec<_>> =
            wrapping.stanzas.iter().map(|all| all.iter().map(|stanza| stanza.tag.as_str()).collect()).collect();
        assert_eq!(tags, [vec!["a"], vec!["b", "c"]]);
        assert_eq!(
            (&wrapping.stanzas[1][0].args[..], &wrapping.stanzas[1][0].body[..]),
            (&["x".into(), "y".into()][..], &[0; 3][..])
        );
        let heard = script.heard();
        let (before, after) = heard.split_once("-> grease-").expect("grease");
        assert_eq!(before, format!("-> add-recipient {}\n\n", line("age1dummy")));
        let after = after.split_once("\n\n").expect("a whole stanza").1;
        assert_eq!(
            after,
            "-> wrap-file-key\nAAAAAAAAAAAAAAAAAAAAAA\n-> wrap-file-key\nAQEBAQEBAQEBAQEBAQEBAQ\n\
             -> extension-labels\n\n-> done\n\n-> ok\n\n-> ok\n\n-> ok\n\n-> ok\n\n"
        );
    }
}

#[test]
fn a_key_is_unwrapped() {
    let mut script = Script::new("-> file-key 1\nAQEBAQEBAQEBAQEBAQEBAQ\n-> error internal\nAAAA\n-> done\n\n");
    let keys = identity().unwrap_over(&mut script, &files()).expect("a key");
    assert!(keys[0].is_none() && keys[1].as_ref().is_some_and(|key| key.same(&[1; KEY])));
    let body = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";
    let heard = script.heard();
    assert!(heard.starts_with(&format!("-> add-identity {}\n\n-> grease-", line("AGE-PLUGIN-DUMMY-"))), "{heard}");
    let stanza = |words: &str| format!("-> recipient-stanza {words} a\n{body}\n\n");
    let expected =
        [stanza("0 dummy"), stanza("0 other"), stanza("1 X25519")].concat() + "-> done\n\n-> ok\n\n-> ok\n\n";
    assert!(heard.ends_with(&expected), "{heard}");
    // It is not an error if the plugin unwraps no key.
    assert!(unwrap("-> done\n\n").is_ok_and(|keys| keys.iter().all(Option::is_none)));
}

#[test]
fn plugins_that_lie_are_refused() {
    let stanza = "-> recipient-stanza 0 a\n\n-> recipient-stanza 1 a\n\n";
    for (says, words) in [
        ("", "ended before it was done"),
        ("-> done\n", "closed its output"),
        (stanza, "closed its output"),
        ("hello", "not a stanza"),
        ("\n-> done\n\n", "not a stanza"),
        ("->done\n\n", "not a stanza"),
        ("-> \n\n", "not well formed"),
        ("->  done\n\n", "not well formed"),
        ("-> done \n\n", "not well formed"),
        ("-> done\r\n\r\n", "not well formed"),
        ("-> msg\nA\n-> done\n\n", "not well formed"),
        ("-> msg\nAB\n-> done\n\n", "not well formed"),
        ("-> msg\nAA==\n-> done\n\n", "not well formed"),
        ("-> done\n\n", "wrapped no key"),
        ("-> recipient-stanza 0 a\n\n-> done\n\n", "wrapped no key"),
        ("-> recipient-stanza 2 a\n\n", "number of a file"),
        ("-> recipient-stanza 00 a\n\n", "number of a file"),
        ("-> recipient-stanza -0 a\n\n", "number of a file"),
        ("-> recipient-stanza +1 a\n\n", "number of a file"),
        ("-> recipient-stanza 99999999999999999999999 a\n\n", "number of a file"),
        ("-> recipient-stanza\n\n", "number of a file"),
        ("-> recipient-stanza 0\n\n", "without a type"),
        ("-> labels\n\n-> labels\n\n", "two lists of labels"),
        ("-> confirm\n\n", "without options"),
        ("-> confirm YQ YQ YQ\n\n", "without options"),
        ("-> confirm Y\n\n", "not base64"),
        ("-> error recipient 0\nbm8\n-> done\n\n", "refuses the recipient: no"),
        ("-> error identity 0\nbm8\n-> done\n\n", "refuses the identity: no"),
        ("-> error internal\nG1sybQo\n", r"failed: \u{1b}[2m"),
        ("-> error\n\n-> done\n\n", "failed: it gave no reason"),
        ("-> error stanza 0 0\nbm8\nbroken", "refuses a recipient of the file: no"),
        ("-> request-secret\nUElOPw\n-> done\n\n", "nobody could answer: PIN?"),
    ] {
        let error = wrap(says).expect_err(says).to_string();
        let words = if says.is_empty() { "closed its output" } else { words };
        assert!(error.starts_with("age-plugin-dummy ") && error.contains(words), "{says:?}: {error}");
    }
    // If the plugin sends an error, wrapping fails even if the plugin also made stanzas.
    assert!(wrap(&format!("{stanza}-> error internal\n\n-> done\n\n")).is_err());
    assert!(wrap(&format!("-> request-secret\nUElOPw\n{stanza}-> done\n\n")).is_ok());
    let key = "-> file-key 0\nAQEBAQEBAQEBAQEBAQEBAQ\n";
    for (says, words) in [
        ("-> file-key 0\nAQEBAQEBAQEBAQEBAQEB\n", "a key of 15 bytes instead of 16"),
        ("-> file-key 0\nAQEBAQEBAQEBAQEBAQEBAQE\n", "a key of 17 bytes instead of 16"),
        ("-> file-key 0\n\n", "a key of 0 bytes instead of 16"),
        ("-> file-key 2\nAQEBAQEBAQEBAQEBAQEBAQ\n", "number of a file"),
        ("-> file-key\nAQEBAQEBAQEBAQEBAQEBAQ\n", "number of a file"),
        ("-> file-key 0 0\nAQEBAQEBAQEBAQEBAQEBAQ\n", "more than its number"),
        (&[key, key].concat(), "two keys for one file"),
        (key, "closed its output"),
        ("-> error identity 0\nbm8\n-> done\n\n", "refuses the identity: no"),
        ("-> request-secret\nUElOPw\n-> done\n\n", "nobody could answer: PIN?"),
    ] {
        let error = unwrap(says).expect_err(says).to_string();
        assert!(error.contains(words), "{says:?}: {error}");
    }
}

/// A plugin may make stanzas of some types that age defines. Plugins must not make stanzas of the other types.
#[test]
fn stanzas_of_the_types_of_age_are_refused() {
    let says = |stanza: &str| format!("-> recipient-stanza 0 a\n\n-> recipient-stanza 1 {stanza}\n-> done\n\n");
    let (share, body) = ("A".repeat(43), "A".repeat(43));
    let rsa = [&*"A".repeat(64), "\n", &"A".repeat(64), "\n", &"A".repeat(43)].concat();
    let point = "A".repeat(87);
    for stanza in [
        format!("scrypt {} 10\n{body}", "A".repeat(22)),
        format!("X25519 {share}\n{body}"),
        format!("ssh-ed25519 AAAAAA {share}\n{body}"),
        format!("ssh-rsa AAAAAA\n{rsa}"),
        format!("mlkem768x25519 {}\n{body}", "A".repeat(1494)),
        "scrypt\n".into(),
        "p256tag\n".into(),
        format!("p256tag AAAAAA {point} x\n{body}"),
        format!("p256tag AAAAAA {point}\n"),
        "mlkem768p256tag AAAAAA\n".into(),
    ] {
        let name = stanza.split([' ', '\n']).next().unwrap_or_default();
        let error = wrap(&says(&stanza)).expect_err(&stanza).to_string();
        assert!(error.contains(&format!("made a stanza of the type {name}, which no reader")), "{stanza}: {error}");
    }
    for stanza in [format!("p256tag AAAAAA {point}\n{body}"), "scrypt2\n".into(), "x25519 a\n".into()] {
        wrap(&says(&stanza)).expect(&stanza);
    }
}

#[test]
fn floods_end() {
    let error = |says: &str| wrap(says).expect_err("a flood").to_string();
    assert!(error(&"-> msg\n\n".repeat(1000)).contains("too many messages"));
    assert!(error(&format!("-> msg {}", "x".repeat(1 << 20))).contains("a stanza of more than 64 KiB"));
    assert!(error(&format!("-> msg {}\n\n", "x".repeat(64 << 10))).contains("a stanza of more than 64 KiB"));
    let body = format!("-> msg\n{}", format!("{}\n", "A".repeat(64)).repeat(1100));
    assert!(error(&body).contains("a stanza of more than 64 KiB"));
    assert!(error(&"-> recipient-stanza 0 a\n\n".repeat(17)).contains("too many stanzas for one key"));
    assert!(error(&format!("-> labels{}\n\n", " a".repeat(17))).contains("too many labels"));
    // The longest stanza and the maximum number of stanzas are allowed.
    let longest = format!("-> msg {}\n\n", "x".repeat((64 << 10) - "-> msg \n\n".len()));
    let unwrap = |says: &str| {
        let client = Client::new(Arc::new(Clerk::default()));
        identity().with(client).unwrap_over(&mut Script::new(says), &files())
    };
    assert!(unwrap(&(longest + "-> done\n\n")).is_ok());
    assert!(unwrap(&("-> msg\n\n".repeat(257) + "-> done\n\n")).is_ok());
    assert!(unwrap(&("-> msg\n\n".repeat(258) + "-> done\n\n")).is_err());
}

#[test]
fn questions_reach_the_dialog_and_answers_the_plugin() {
    let says = "-> msg\ndG91Y2gKGwpbMm0\n-> confirm Z28\nb24\n-> confirm c3RvcA Z28\nb24\n-> request-public\nd2hv\n\
                -> request-secret\nUElO\n-> grease-x y\nAAAA\n-> labels\n\n-> done\n\n";
    let clerk = Arc::new(Clerk::default());
    let mut script = Script::new(says);
    let client = Client::new(clerk.clone());
    identity().with(client).unwrap_over(&mut script, &[]).expect("no file");
    let answers = "-> ok\n\n-> ok yes\n\n-> ok no\n\n-> ok\nbmFtZQ\n-> ok\n\
                   MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTEx\n\n\
                   -> unsupported\n\n-> unsupported\n\n";
    let heard = script.heard();
    assert!(heard.ends_with(&format!("-> done\n\n{answers}")), "{heard}");
    let choice = |yes: &str, no: Option<&str>| Question::Confirm {
        text: "on".into(),
        yes: yes.into(),
        no: no.map(str::to_owned),
    };
    assert_eq!(
        *clerk.0.lock().expect("no panic"),
        [
            Question::Message("touch\n\\u{1b}\n[2m".into()),
            choice("go", None),
            choice("stop", Some("go")),
            Question::Public("who".into()),
            Question::Secret("PIN".into()),
        ]
    );
    // Without a dialog, every question fails.
    let mut script = Script::new(says);
    assert!(identity().unwrap_over(&mut script, &[]).is_err());
    assert!(script.heard().ends_with(&format!(
        "-> done\n\n{}{}",
        "-> fail\n\n".repeat(5),
        "-> unsupported\n\n".repeat(2)
    )));
}

#[test]
fn a_missing_plugin_is_named() {
    for client in [Client::default().path("/nowhere"), Client::default().path(""), Client::default().path(".:tests")] {
        let error = recipient().with(client).wrap(&keys(1)).expect_err("no such program");
        assert_eq!(error.to_string(), "there is no program age-plugin-dummy in the folders of PATH");
        assert!(error.program() == "age-plugin-dummy" && error.fault() == Fault::Caller);
    }
}

#[test]
fn stanzas_of_an_entry_have_one_form() {
    let stanza = |length| AgeStanza { tag: "a".into(), args: vec!["b".into()], body: vec![3; length] };
    for length in [0, 1, 47, 48, 49, 96, 1000] {
        let all = vec![stanza(length), stanza(0), stanza(length)];
        let text = stanzas::text(&all).expect("printable");
        assert_eq!(stanzas::parse(&text).expect("stanzas"), all, "{length}");
        for cut in 0..text.len() {
            assert!(stanzas::parse(&text[..cut]).is_none_or(|some| some.len() < 3), "{cut} of {length}");
        }
    }
    assert!(stanzas::parse(b"-> x\n\n").is_some() && stanzas::parse(&b"-> x\n\n".repeat(16)).is_some());
    for bad in
        [&b""[..], b"\n", b"-> x\n", b"-> x\n\n\n", b"-> x\n\n-", b"x\n\n", b"-> x\nA\n", b"-> x\nAB\n", b"-> \n\n"]
    {
        assert!(stanzas::parse(bad).is_none(), "{bad:?}");
    }
    assert!(stanzas::parse(&b"-> x\n\n".repeat(17)).is_none());
}
