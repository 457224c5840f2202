//! Tests plugins, which are programs. A script takes the place of the plugins, and can behave correctly or incorrectly.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deadpan_seal::plugin::{self, Answer, Client, Dialog, Process, Question};
use deadpan_seal::{
    Error, Fault, Format, Header, Identity, Kem, Mode, Passphrase, PrivateKey, Recipient, Sealing, Secret, Stanza, Work,
};

/// Returns the Bech32 text of the bytes 1, 2, 3 after the given prefix.
fn line(prefix: &str) -> String {
    const LETTERS: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    let lower = prefix.to_ascii_lowercase();
    let mut sum = 1_u32;
    let mut add = |value: u8| {
        let top = sum >> 25;
        sum = (sum & 0x01ff_ffff) << 5 ^ u32::from(value);
        for (bit, term) in [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3].into_iter().enumerate() {
            sum ^= if top >> bit & 1 == 1 { term } else { 0 };
        }
        sum
    };
    for value in lower.bytes().map(|byte| byte >> 5).chain([0]).chain(lower.bytes().map(|byte| byte & 31)) {
        add(value);
    }
    let data = [0, 4, 1, 0, 6];
    for value in data {
        add(value);
    }
    let rest = (0..6).map(|_| add(0)).last().unwrap() ^ 1;
    let values = data.into_iter().chain((0..6).map(|place| (rest >> (25 - 5 * place) & 31) as u8));
    let text: String = values.map(|value| char::from(LETTERS[usize::from(value)])).collect();
    if prefix == lower { format!("{prefix}1{text}") } else { format!("{prefix}1{}", text.to_ascii_uppercase()) }
}

/// A folder with one plugin for each behavior in `manners`. Each plugin is the same script, and its name selects the
/// behavior.
struct Folder(PathBuf);

impl Folder {
    fn new(manners: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("deadpan-plugins-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/plugin/age-plugin-dummy");
        for manner in manners {
            symlink(script.canonicalize().unwrap(), folder.join(format!("age-plugin-{manner}"))).unwrap();
        }
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A dialog that answers all questions, and stores the questions.
#[derive(Default)]
struct Clerk {
    asked: Mutex<Vec<Question>>,
    started: Mutex<Vec<Process>>,
    pin: Option<&'static str>,
}

impl Dialog for Clerk {
    fn ask(&self, _: &str, question: &Question) -> Answer {
        self.asked.lock().unwrap().push(question.clone());
        match (question, self.pin) {
            (Question::Message(_), _) => Answer::Done,
            (Question::Confirm { .. }, _) => Answer::Yes,
            (Question::Public(_) | Question::Secret(_), Some(pin)) => Answer::Text(Secret::copy_of(pin.as_bytes())),
            _ => Answer::Nobody,
        }
    }

    fn started(&self, process: &Process) -> Box<dyn std::any::Any> {
        self.started.lock().unwrap().push(process.clone());
        Box::new(())
    }
}

/// A plugin with one behavior, and with its own dialog for the user.
struct Plugin {
    folder: Folder,
    manner: &'static str,
    clerk: Arc<Clerk>,
    silence: Duration,
}

impl Plugin {
    fn new(manner: &'static str) -> Self {
        let clerk = Arc::new(Clerk { pin: Some("1234"), ..Clerk::default() });
        Self { folder: Folder::new(&[manner]), manner, clerk, silence: Duration::from_secs(60) }
    }

    fn impatient(manner: &'static str) -> Self {
        Self { silence: Duration::from_millis(300), ..Self::new(manner) }
    }

    fn client(&self) -> Client {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.folder.0.display());
        Client::new(self.clerk.clone()).timeout(self.silence).path(path)
    }

    fn recipient(&self) -> Recipient {
        let text = line(&format!("age1{}", self.manner));
        Recipient::Plugin(plugin::Recipient::parse(&text).unwrap().with(self.client()))
    }

    fn identity(&self) -> plugin::Identity {
        let text = line(&format!("AGE-PLUGIN-{}-", self.manner.to_ascii_uppercase()));
        plugin::Identity::parse(text.as_bytes()).unwrap().with(self.client())
    }

    fn seal(&self) -> Result<Vec<u8>, Error> {
        Sealing::to(vec![self.recipient()])?.seal(b"straight face")
    }

    fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        open(sealed, &[Identity::Plugin(self.identity())])
    }

    fn asked(&self) -> Vec<Question> {
        self.clerk.asked.lock().unwrap().clone()
    }
}

fn open(mut sealed: &[u8], identities: &[Identity]) -> Result<Vec<u8>, Error> {
    let opened = Header::read(&mut sealed)?.open(identities)?;
    opened.open(sealed)
}

#[test]
fn plugins_seal_and_open() {
    for manner in ["dummy", "several", "unsupported", "message", "confirm", "secret", "late", "public"] {
        let plugin = Plugin::new(manner);
        let sealed = plugin.seal().expect(manner);
        assert_eq!(plugin.open(&sealed).expect(manner), b"straight face", "{manner}");
        let [Stanza::Plugin { tag, mode: Mode::Ecc }] = Header::read(&sealed[..]).unwrap().stanzas()[..] else {
            panic!("{manner}: another stanza")
        };
        assert_eq!(tag.as_str(), if manner == "several" { "other" } else { "dummy" });
        // An identity of a plugin can also serve as a recipient.
        let recipient = Recipient::Plugin(plugin.identity().to_recipient());
        let again = Sealing::to(vec![recipient]).unwrap().seal(b"straight face").expect(manner);
        assert_eq!(plugin.open(&again).expect(manner), b"straight face", "{manner}");
        assert_eq!(plugin.clerk.started.lock().unwrap().len(), 4);
    }
}

#[test]
fn recipients_of_plugins_go_with_others_and_are_independent() {
    let plugin = Plugin::new("pq");
    let key = PrivateKey::generate(Kem::XWing).unwrap();
    let passphrase = Passphrase::new(b"correct horse");
    let cost = deadpan_seal::Cost { memory: 64, passes: 1, lanes: 1 };
    let recipients = vec![
        plugin.recipient(),
        Recipient::Key(key.public().clone()),
        plugin.recipient(),
        Recipient::Passphrase(passphrase.clone(), cost),
    ];
    let sealing = Sealing::to(recipients).unwrap();
    let length = sealing.sealed_length(13).unwrap();
    let sealed = sealing.seal(b"straight face").unwrap();
    assert_eq!(sealed.len() as u64, length);
    // Each plugin ran once when the length was computed. The file was then sealed with the results of these runs.
    assert_eq!(plugin.clerk.started.lock().unwrap().len(), 2);
    for identity in [Identity::Plugin(plugin.identity()), Identity::Key(key.clone()), Identity::Passphrase(passphrase)]
    {
        assert_eq!(open(&sealed, &[identity]).unwrap(), b"straight face");
    }
    let other = sealing.seal(b"straight face").unwrap();
    assert_eq!(plugin.clerk.started.lock().unwrap().len(), 5);
    let bodies = |sealed: &[u8]| sealed[20..100].to_vec();
    assert_ne!(bodies(&sealed), bodies(&other));
    // A plugin that fails does not prevent other identities from opening the file.
    let broken = Plugin::new("dies");
    let identities = [Identity::Plugin(broken.identity()), Identity::Key(key)];
    assert_eq!(open(&sealed, &identities).unwrap(), b"straight face");
    // If a file has no plugin recipients, no plugin is started.
    let plain = deadpan_seal::seal(&Passphrase::new(b"x"), b"").unwrap();
    let plugin = Plugin::new("dummy");
    assert!(matches!(plugin.open(&plain), Err(Error::NoKeyFits(_))));
    assert!(plugin.clerk.started.lock().unwrap().is_empty());
    // It is not a failure if a plugin finds no key.
    let error = Plugin::new("empty").open(&sealed).unwrap_err();
    assert!(
        error.to_string().contains("sealed to 2 dummy plugin keys and one X-Wing key and one passphrase"),
        "{error}"
    );
}

#[test]
fn labels_decide_what_goes_together() {
    let (classical, strong, own) = (Plugin::new("dummy"), Plugin::new("pq"), Plugin::new("label"));
    let key = |kem| Recipient::Key(PrivateKey::generate(kem).unwrap().public().clone());
    let seal = |recipients: Vec<Recipient>| Sealing::to(recipients).unwrap().seal(b"");
    for good in [
        vec![classical.recipient(), key(Kem::X25519)],
        vec![strong.recipient(), key(Kem::XWing), key(Kem::MlKem768)],
        vec![own.recipient(), own.recipient()],
    ] {
        seal(good).expect("the same labels");
    }
    for bad in [
        vec![classical.recipient(), key(Kem::XWing)],
        vec![strong.recipient(), key(Kem::X25519)],
        vec![strong.recipient(), classical.recipient()],
    ] {
        assert!(matches!(seal(bad.clone()), Err(Error::Mixed(_))));
        assert!(Sealing::mixed(bad).unwrap().seal(b"").is_ok());
    }
    let passphrase = Recipient::from(&Passphrase::new(b"x"));
    for other in [key(Kem::X25519), classical.recipient(), passphrase] {
        for recipients in [vec![own.recipient(), other.clone()], vec![other.clone(), own.recipient()]] {
            let error = Sealing::mixed(recipients).unwrap().seal(b"").unwrap_err();
            assert!(error.to_string().contains("not all have the label only-mine"), "{error}");
        }
    }
    assert!(Sealing::to(vec![strong.recipient()]).unwrap().seal(b"").is_ok_and(|sealed| {
        matches!(Header::read(&sealed[..]).unwrap().stanzas()[..], [Stanza::Plugin { mode: Mode::Pqc, .. }])
    }));
}

#[test]
fn plugins_that_fail_give_clear_errors_in_time() {
    let sealed = Plugin::new("dummy").seal().unwrap();
    for (manner, sealing, opening) in [
        ("early", "ended before it was done (exit code 3)", "ended before it was done (exit code 3)"),
        ("dies", "ended before it was done (exit code 4)", "ended before it was done (exit code 4)"),
        ("killed", "ended before it was done (signal 9)", "ended before it was done (signal 9)"),
        ("flood", "it sent too many messages", "it sent too many messages"),
        ("long", "a stanza of more than 64 KiB", "a stanza of more than 64 KiB"),
        ("garbage", "a line that is not a stanza", "a line that is not a stanza"),
        ("refuses", "refuses the recipient: not one of mine", "refuses the identity: not one of mine"),
        ("empty", "wrapped no key", "no key fits"),
        ("index", "number of a file that it was not given", ""),
        ("huge", "do not fit an entry of 64 KiB", ""),
        ("wrong", "", "gave a key that does not open the file"),
        ("length", "", "gave a key of 6 bytes instead of 16"),
        ("twice", "", "two keys for one file"),
    ] {
        let plugin = Plugin::new(manner);
        for (result, words) in [(plugin.seal(), sealing), (plugin.open(&sealed), opening)] {
            match result {
                Ok(_) => assert!(words.is_empty(), "{manner} succeeded"),
                Err(error) => assert!(!words.is_empty() && error.to_string().contains(words), "{manner}: {error}"),
            }
        }
        for process in plugin.clerk.started.lock().unwrap().iter() {
            // The plugin's process has ended, so this call has no effect.
            process.kill();
        }
    }
}

/// No reader accepts a file with a stanza of the type `scrypt` and other stanzas. Sealing must refuse a stanza of the
/// type `scrypt` from a plugin.
#[test]
fn a_native_stanza_of_a_plugin_makes_no_file() {
    let plugin = Plugin::new("native");
    let key = PrivateKey::generate(Kem::X25519).unwrap();
    let identity = [Identity::Key(key.clone())];
    let refused = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        let words = "age-plugin-native made a stanza of the type scrypt, which no reader accepts";
        assert!(error.to_string().starts_with(words) && error.fault() == Fault::System, "{error}");
    };
    for format in [Format::Deadpan, Format::Age] {
        let to = |recipients| Sealing::to(recipients).and_then(|sealing| sealing.format(format)).unwrap();
        for others in [vec![], vec![Recipient::from(key.public())]] {
            let sealing = to([others, vec![plugin.recipient()]].concat());
            let (input, output) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
            refused(sealing.seal(b"data").map(drop));
            refused(sealing.seal_into(b"data", &mut [0; 4096], &Work::default()).map(drop));
            refused(sealing.seal_stream(&b"data"[..], Vec::new(), &Work::default()).map(drop));
            refused(sealing.write_to(Vec::new()).map(drop));
            refused(sealing.seal_file(&input, &output, &Work::default()).map(drop));
            assert_eq!(output.metadata().unwrap().len(), 0);
        }
        let sealed = to(vec![key.public().into()]).seal(b"data").unwrap();
        let opened = Header::read(&sealed[..]).unwrap().open(&identity).unwrap();
        refused(opened.rewrap(&[plugin.recipient()], false).map(drop));
        refused(opened.rewrap_longer(&[plugin.recipient()], false).map(drop));
        refused(opened.rewrap_keeping(&[0], &[plugin.recipient()], false).map(drop));
    }
}

#[test]
fn silent_plugins_are_stopped() {
    let sealed = Plugin::new("dummy").seal().unwrap();
    let stopped = |manner: &'static str| {
        // These two plugins say something, which takes some time on a busy machine.
        let plugin = match manner {
            "loud" | "internal" => Plugin { silence: Duration::from_secs(2), ..Plugin::new(manner) },
            _ => Plugin::impatient(manner),
        };
        let begin = Instant::now();
        for result in [plugin.seal(), plugin.open(&sealed)] {
            let error = result.unwrap_err();
            let words = if manner == "internal" { r"the token is \u{1b}[5mbroken" } else { "nothing came for" };
            assert!(error.to_string().contains(words), "{manner}: {error}");
            assert!(error.fault() == Fault::System);
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{manner}");
        // The amount of text that is read from a plugin's standard error is limited.
        let said: usize = plugin.asked().iter().map(|question| format!("{question:?}").len()).sum();
        assert!(said < 100_000, "{manner}: {said}");
        assert!(manner != "loud" || plugin.asked().contains(&Question::Log("error: everything is on fire".into())));
    };
    std::thread::scope(|scope| {
        for manner in ["silent", "deaf", "loud", "dribble", "internal"] {
            scope.spawn(move || stopped(manner));
        }
    });
    // A plugin that does not read its input is also stopped, even if the input is long.
    let key = PrivateKey::generate(Kem::X25519).unwrap();
    let good = Plugin::new("dummy");
    let mut recipients = vec![Recipient::Key(key.public().clone())];
    recipients.extend((0..8).map(|_| good.recipient()));
    let sealed = Sealing::to(recipients).unwrap().seal(b"").unwrap();
    assert!(Plugin::impatient("deaf").open(&sealed).unwrap_err().to_string().contains("nothing came for"));
    let files = vec![vec![deadpan_seal::age::AgeStanza { tag: "x".into(), args: vec![], body: vec![0; 1 << 20] }]];
    let error = Plugin::impatient("deaf").identity().unwrap(&files).unwrap_err();
    assert!(error.to_string().contains("nothing came for"), "{error}");
}

#[test]
fn a_plugin_that_lingers_is_stopped_after_its_work() {
    let plugin = Plugin::new("lingers");
    let sealed = plugin.seal().expect("sealed");
    assert_eq!(plugin.open(&sealed).expect("opened"), b"straight face");
}

#[test]
fn text_of_plugins_cannot_control_a_terminal() {
    let plugin = Plugin::new("control");
    plugin.seal().unwrap();
    let asked = plugin.asked();
    let message = Question::Message("\\u{1b}[2Jtouch\\u{7} it\nnow\\u{202e}".into());
    assert!(asked.contains(&message), "{asked:?}");
    assert!(asked.iter().any(|question| matches!(question, Question::Log(line) if line.contains("red line"))));
    for question in asked {
        assert!(!format!("{question:?}").contains(['\u{1b}', '\u{7}', '\u{202e}']));
    }
}

#[test]
fn questions_without_an_answer_are_named() {
    for manner in ["secret", "confirm"] {
        let mut plugin = Plugin::new(manner);
        let sealed = plugin.seal().expect("sealed");
        plugin.clerk = Arc::new(Clerk { pin: Some("4321"), ..Clerk::default() });
        match (manner, plugin.open(&sealed)) {
            ("secret", Err(error)) => {
                assert!(
                    error.to_string().contains("refuses the identity: the PIN is wrong") && error.fault() == Fault::Key
                );
            }
            (_, result) => assert_eq!(result.unwrap(), b"straight face"),
        }
    }
}

#[test]
fn plugins_get_neither_the_folder_nor_hidden_variables() {
    let plugin = Plugin::new("environment");
    let recipient = plugin::Recipient::parse(&line("age1environment")).unwrap();
    recipient.with(plugin.client().hide_variable("DEADPAN_PASSPHRASE")).wrap(&[Secret::zeroed(16)]).unwrap();
    assert!(plugin.asked().contains(&Question::Log("/".into())), "{:?}", plugin.asked());
}

#[test]
fn every_byte_of_an_entry_counts() {
    let plugin = Plugin::new("dummy");
    let sealed = plugin.seal().unwrap();
    let length = 20 + usize::from(u16::from_be_bytes([sealed[18], sealed[19]]));
    assert_eq!(sealed[16..18], [0xff, 0x03]);
    for place in 16..length {
        let mut bad = sealed.clone();
        bad[place] ^= 1;
        assert!(plugin.open(&bad).is_err(), "byte {place}");
    }
}
