//! Seals and opens many objects and long objects in a store in memory.

use std::any::Any;
use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use deadpan_fleet::{
    About, Act, Cleaned, Divided, Error, Filter, Foreign, Gone, Job, JobKey, Landing, Observer, Outcome, Pair, Place,
    Results, Run, Spot, Tree, TreeFile,
};
use deadpan_remote::{Address, Canceller, Object, Store};
use deadpan_seal::{Header, Identity, Kem, Metadata, PrivateKey, Recipient, Sealing, Work};

const MEBIBYTE: u64 = 1 << 20;

struct Seal(PrivateKey);
struct Open(PrivateKey);

impl Seal {
    fn sealing(&self) -> Sealing {
        Sealing::to(vec![Recipient::from(self.0.public())]).unwrap()
    }
}

impl Open {
    fn begin(&self, mut from: impl Read) -> Result<deadpan_seal::Opened, Foreign> {
        Ok(Header::read(&mut from)?.open(&[Identity::from(&self.0)])?)
    }
}

struct Draft(PathBuf, Vec<u8>);

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Landing for Draft {
    fn land(self: Box<Self>, _metadata: &Metadata) -> Result<bool, Foreign> {
        fs::write(self.0, self.1)?;
        Ok(true)
    }
}

struct Files;

impl Results for Files {
    fn create(&self, place: &TreeFile, _replace: bool) -> Result<Box<dyn Landing + '_>, Foreign> {
        place.spot_to_make()?;
        Ok(Box::new(Draft(place.path(), Vec::new())))
    }

    fn create_folder(&self, place: &TreeFile, mode: u32) -> Result<bool, Foreign> {
        Ok(place.make_folder(mode)?)
    }

    fn watch(&self, _canceller: Canceller, _target: &Address) -> Box<dyn Any> {
        Box::new(())
    }
}

impl Act for Seal {
    fn verb(&self) -> &'static str {
        "seal"
    }

    fn target(&self, name: &str) -> Option<String> {
        Some(format!("{name}.dpn"))
    }

    fn source(&self, result: &str) -> Option<String> {
        result.strip_suffix(".dpn").map(str::to_owned)
    }

    fn has_made(&self, result: &mut (dyn Read + Send)) -> io::Result<bool> {
        let mut contents = String::new();
        result.read_to_string(&mut contents)?;
        Ok(contents != "foreign")
    }

    fn whole(&self, _about: &About, data: &[u8]) -> Result<Option<(Vec<u8>, Metadata)>, Foreign> {
        Ok(Some((self.sealing().seal(data)?, Metadata::default())))
    }

    fn stream(
        &self,
        _about: &About,
        from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign> {
        self.sealing().seal_stream(from, to, &Work::default())?;
        Ok(Metadata::default())
    }

    fn divide(&self, _about: &About, _start: &[u8]) -> Result<Option<Divided>, Foreign> {
        Ok(Some(Divided::Seal(self.sealing())))
    }
}

impl Act for Open {
    fn verb(&self) -> &'static str {
        "open"
    }

    fn target(&self, name: &str) -> Option<String> {
        name.strip_suffix(".dpn").map(str::to_owned)
    }

    fn whole(&self, _about: &About, data: &[u8]) -> Result<Option<(Vec<u8>, Metadata)>, Foreign> {
        let mut rest = data;
        let plain = self.begin(&mut rest)?.open(rest)?;
        Ok(Some((plain, Metadata::default())))
    }

    fn stream(
        &self,
        _about: &About,
        mut from: &mut (dyn Read + Send),
        to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign> {
        self.begin(&mut from)?.open_stream(from, to, &Work::default())?;
        Ok(Metadata::default())
    }

    fn divide(&self, _about: &About, start: &[u8]) -> Result<Option<Divided>, Foreign> {
        Ok(Some(Divided::Open(Arc::new(self.begin(start)?))))
    }
}

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn sample(length: u64) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[derive(Default)]
struct Log(Mutex<Vec<(String, String)>>);

impl Observer for Log {
    fn ended(&self, pair: &Pair, outcome: Outcome) {
        let outcome = match outcome {
            Outcome::Failed(error) => format!("failed: {error}"),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push((pair.name.clone(), outcome));
    }
}

struct Bench {
    key: PrivateKey,
    job: JobKey,
    store: Store,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let job = JobKey::read(&JobKey::generate().unwrap()).unwrap();
        let (key, store) = (PrivateKey::generate(Kem::X25519).unwrap(), Store::in_memory(&address("s3://b/")));
        Self { key, job, store, folder: tempfile::tempdir().unwrap() }
    }

    fn prefix(&self, text: &str) -> Place {
        Place::Prefix(self.store.clone(), address(text))
    }

    fn folder(&self, name: &str) -> Place {
        Place::Folder(Tree::new(self.folder.path().join(name)))
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).unwrap()
    }

    fn job(&self, act: &dyn Act, from: &Place, to: &Place) -> Option<Job> {
        let Place::Prefix(store, target) = to else { return None };
        Some(Job::new(self.job.clone(), store.clone(), act.verb(), &from.text(), target).unwrap())
    }

    /// Executes a run, and returns the reported outcomes, sorted by name.
    fn run(
        &self,
        act: &dyn Act,
        from: &Place,
        to: &Place,
        change: impl Fn(Run<'_>) -> Run<'_>,
    ) -> Vec<(String, String)> {
        let log = Log::default();
        let run = Run::new(act, &Files, &log).memory(200 * MEBIBYTE).long(20 * MEBIBYTE);
        change(run.job(self.job(act, from, to))).all(from, to, || Ok(())).unwrap();
        let mut told = log.0.into_inner().unwrap();
        told.sort();
        told
    }

    fn keys(&self, prefix: &str) -> Vec<String> {
        self.store.list(&address(prefix), None).unwrap().map(|entry| entry.unwrap().name).collect()
    }
}

fn names(told: &[(String, String)]) -> Vec<(&str, &str)> {
    told.iter().map(|(name, outcome)| (name.as_str(), outcome.as_str())).collect()
}

#[test]
fn a_folder_goes_to_a_store_from_store_to_store_and_back() {
    let bench = Bench::new();
    let (seal, open) = (Seal(bench.key.clone()), Open(bench.key.clone()));
    let all = [("a", 0), ("b/one", 1), ("b/two", 300_000), ("b/x y+%20\u{e4}", 77), ("long", 40 * MEBIBYTE)];
    for (name, length) in all {
        bench.write(&format!("from/{name}"), &sample(length));
    }
    let made: Vec<_> = all.iter().map(|(name, length)| ((*name).to_owned(), format!("Made({length})"))).collect();
    let there: Vec<_> = all.iter().map(|(name, _)| (*name, "There")).collect();
    let (from, sealed) = (bench.folder("from"), bench.prefix("s3://b/sealed/"));
    assert_eq!(bench.run(&seal, &from, &sealed, |run| run), made);
    // A second run finds all results.
    assert_eq!(names(&bench.run(&seal, &from, &sealed, |run| run)), there);
    assert_eq!(bench.keys("s3://b/_deadpan/"), [""; 0]);
    let clear = bench.prefix("s3://b/clear/");
    let opened = bench.run(&open, &sealed, &clear, |run| run);
    assert!(opened.iter().all(|(name, outcome)| name.ends_with(".dpn") && outcome.starts_with("Made")), "{opened:?}");
    for (name, length) in all {
        let object = Object::open(&bench.store, &address(&format!("s3://b/clear/{name}"))).unwrap();
        assert!(object.bytes(0..length).unwrap() == sample(length), "{name}");
        assert_eq!(object.length(), length);
    }
    bench.run(&open, &sealed, &bench.folder("back"), |run| run);
    for (name, length) in all {
        assert!(bench.read(&format!("back/{name}")) == sample(length), "{name}");
    }
    // Sources and results lie in the same store. The run does not treat the results as sources.
    let everything = bench.prefix("s3://b/");
    let told = bench.run(&seal, &everything, &bench.prefix("s3://b/twice/"), |run| run.rehearse(true));
    assert_eq!(told.len(), 10);
    bench.run(&seal, &everything, &bench.prefix("s3://b/twice/"), |run| run);
    let told = bench.run(&seal, &everything, &bench.prefix("s3://b/twice/"), |run| run);
    assert!(told.len() == 10 && told.iter().all(|(_, outcome)| outcome == "There"), "{told:?}");
}

#[test]
fn what_changed_is_not_replaced_unasked() {
    let bench = Bench::new();
    let seal = Seal(bench.key.clone());
    let (from, to) = (bench.folder("from"), bench.prefix("s3://b/"));
    for name in ["a", "b"] {
        bench.write(&format!("from/{name}"), b"first");
    }
    bench.run(&seal, &from, &to, |run| run);
    bench.write("from/b", b"second");
    let later = SystemTime::now() + Duration::from_secs(100);
    fs::File::open(bench.folder.path().join("from/b")).unwrap().set_modified(later).unwrap();
    let told = bench.run(&seal, &from, &to, |run| run);
    let outdated = "failed: the target is older than the source, and is not replaced";
    assert_eq!(names(&told), [("a", "There"), ("b", outdated)]);
    assert_eq!(names(&bench.run(&seal, &from, &to, |run| run.replace(true))), [("a", "There"), ("b", "Made(6)")]);
}

#[test]
fn shares_make_parts_of_the_same_object() {
    let bench = Bench::new();
    let (seal, open) = (Seal(bench.key.clone()), Open(bench.key.clone()));
    bench.write("from/long", &sample(70 * MEBIBYTE));
    for name in 0..20 {
        bench.write(&format!("from/{name}"), &sample(name));
    }
    let (from, to) = (bench.folder("from"), bench.prefix("s3://b/to/"));
    let told: Vec<_> =
        ["0/3", "2/3", "1/3"].map(|share| bench.run(&seal, &from, &to, |run| run.shard(share.parse().unwrap()))).into();
    let ends: Vec<_> = told.iter().flatten().filter(|(name, _)| name == "long").map(|(_, end)| end.as_str()).collect();
    assert!(
        matches!(ends[..], ["Waiting(4)" | "Waiting(3)", "Waiting(2)" | "Waiting(1)", "Made(73400320)"]),
        "{ends:?}"
    );
    assert_eq!(told.iter().flatten().filter(|(name, _)| name != "long").count(), 20);
    assert_eq!(bench.keys("s3://b/_deadpan/"), [""; 0]);
    // Parts of an older version do not become parts of the result. The state contains names without escapes, and
    // messages escape the names.
    let other = "from/other\u{202e}";
    bench.write(other, &sample(50 * MEBIBYTE));
    bench.run(&seal, &from, &to, |run| run.shard("0/2".parse().unwrap()));
    bench.write(other, &sample(49 * MEBIBYTE));
    let job = bench.job(&seal, &from, &to).unwrap();
    let states = job.states().unwrap();
    assert_eq!((states.long.len(), states.long[0].done, states.long[0].parts), (1, Some(2), Some(4)));
    let target = &states.long[0].objects.as_ref().unwrap().1;
    assert_eq!(target.raw(), "s3://b/to/other\u{202e}.dpn");
    assert_eq!(target.to_string(), r"s3://b/to/other\u{202e}.dpn");
    bench.run(&seal, &from, &to, |run| run.shard("1/2".parse().unwrap()));
    let states = job.states().unwrap();
    assert_eq!(states.long.len(), 1, "{states:?}");
    bench.run(&seal, &from, &to, |run| run);
    bench.run(&open, &to, &bench.folder("back"), |run| run);
    assert!(bench.read("back/long") == sample(70 * MEBIBYTE));
    assert!(bench.read("back/other\u{202e}") == sample(49 * MEBIBYTE));
    assert_eq!(job.states().unwrap().long, []);
}

#[test]
fn state_of_another_key_is_left_alone_and_can_be_removed() {
    let bench = Bench::new();
    let seal = Seal(bench.key.clone());
    bench.write("from/long", &sample(40 * MEBIBYTE));
    let (from, to) = (bench.folder("from"), bench.prefix("s3://b/to/"));
    bench.run(&seal, &from, &to, |run| run.shard("0/2".parse().unwrap()));
    let stranger = Bench { job: JobKey::read(&JobKey::generate().unwrap()).unwrap(), ..bench };
    let job = stranger.job(&seal, &from, &to).unwrap();
    let folders = Job::folders(&stranger.store, &address("s3://b/")).unwrap();
    assert_eq!(folders, [job.folder().clone()]);
    let states = job.states().unwrap();
    assert_eq!((states.long[0].objects.clone(), states.long[0].done, states.long[0].parts), (None, None, None));
    // A run with another key makes the object in its own upload. The earlier upload is not removed, and only a run with
    // its key can continue it.
    assert_eq!(names(&stranger.run(&seal, &from, &to, |run| run)), [("long", "Made(41943040)")]);
    assert_eq!(job.states().unwrap().long.len(), 1);
    assert!(job.is_of_others().unwrap());
    assert_eq!(job.clean().unwrap(), Cleaned { ended: 0, left: 1 });
    assert_eq!(stranger.keys("s3://b/"), ["to/long.dpn"]);
}

#[test]
fn a_job_is_done_in_one_way() {
    let bench = Bench::new();
    let job = bench.job(&Seal(bench.key.clone()), &bench.folder("from"), &bench.prefix("s3://b/to/")).unwrap();
    let how = |to: &str| format!("{{\"recipients\":\"{to}\"}}").parse::<serde_json::Value>().unwrap();
    job.clone().how(how("alice")).agree().unwrap();
    job.clone().how(how("alice")).agree().unwrap();
    let error = job.how(how("bob")).agree().unwrap_err();
    assert!(error.to_string().ends_with("this job was begun with other recipients"), "{error}");
    let other = Bench { job: JobKey::read(&JobKey::generate().unwrap()).unwrap(), ..bench };
    let job = other.job(&Seal(other.key.clone()), &other.folder("from"), &other.prefix("s3://b/to/")).unwrap();
    assert!(matches!(job.how(how("alice")).agree(), Err(Error::OtherKey(_))));
}

#[test]
fn names_that_leave_the_folder_are_refused() {
    let bench = Bench::new();
    let open = Open(bench.key.clone());
    let sealed = Seal(bench.key.clone()).sealing().seal(b"x").unwrap();
    for name in ["a\\b", "c"] {
        let place = address(&format!("s3://b/sealed/{name}.dpn"));
        bench.store.put(&place, sealed.clone().into(), false).unwrap();
    }
    bench.run(&open, &bench.prefix("s3://b/sealed/"), &bench.folder("back"), |run| run);
    assert_eq!(bench.read("back/c"), b"x");
    let one = Pair {
        name: "x".into(),
        source: Spot::Object(bench.store.clone(), address("s3://b/none")),
        target: Spot::File(TreeFile { tree: Tree::new(bench.folder.path().to_owned()), name: "none".into() }),
        length: 0,
        replace: false,
    };
    let log = Log::default();
    Run::new(&open, &Files, &log).memory(1).long(1).one(one).unwrap();
    assert_eq!(names(&log.0.into_inner().unwrap()), [("x", "failed: s3://b/none: there is no such object")]);
}

/// Another program exchanges a folder of results for a link while the user is asked whether to remove results.
#[test]
fn results_are_not_removed_through_a_link_or_after_a_change() {
    let bench = Bench::new();
    let path = |name: &str| bench.folder.path().join(name);
    for name in ["from", "to/sub/deep", "to/empty", "outside/deep", "to/back"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    for name in ["to/a", "to/b", "to/c", "to/sub/d", "to/sub/deep/e", "outside/d", "outside/deep/e", "to/back/f"] {
        fs::write(path(&format!("{name}.dpn")), name).unwrap();
    }
    fs::write(path("from/c"), "there").unwrap();
    let (from, to, act) = (Tree::new(path("from")), Tree::new(path("to")), Seal(bench.key.clone()));
    let to = Place::Folder(to);
    let find = || Gone::find(&from, &to, &act, &Filter::default(), None).unwrap();
    let gone = find();
    let below = |path: PathBuf| path.strip_prefix(bench.folder.path()).unwrap().to_str().unwrap().to_owned();
    let results: Vec<_> = gone.results().map(below).collect();
    assert_eq!(results, ["to/a.dpn", "to/b.dpn", "to/back/f.dpn", "to/sub/d.dpn", "to/sub/deep/e.dpn"]);
    let folders: Vec<_> = gone.folders().map(below).collect();
    assert_eq!(folders, ["to/sub/deep", "to/sub", "to/empty", "to/back"]);
    fs::rename(path("to/sub"), path("moved")).unwrap();
    std::os::unix::fs::symlink("../outside", path("to/sub")).unwrap();
    // Another file has the name of a result, something has come into a folder, and a source is there again.
    fs::write(path("new"), "other").unwrap();
    fs::rename(path("new"), path("to/a.dpn")).unwrap();
    fs::write(path("to/empty/new"), "new").unwrap();
    fs::create_dir(path("from/back")).unwrap();
    fs::write(path("from/back/f"), "again").unwrap();
    let mut told = Vec::new();
    gone.remove(|removal| told.push((below(removal.path), removal.result.is_ok())));
    let expected = [
        ("to/a.dpn", false),
        ("to/b.dpn", true),
        ("to/sub/d.dpn", false),
        ("to/sub/deep/e.dpn", false),
        ("to/sub/deep", false),
        ("to/sub", false),
    ];
    assert_eq!(told, expected.map(|(path, is_removed)| (path.to_owned(), is_removed)));
    for name in ["to/a.dpn", "to/c.dpn", "to/back/f.dpn", "outside/d.dpn", "outside/deep/e.dpn", "moved/d.dpn"] {
        assert!(path(name).exists(), "{name}");
    }
    assert!(!path("to/b.dpn").exists() && path("to/empty/new").exists());
    // A source whose folder has become a link may be there.
    std::os::unix::fs::symlink("../outside", path("from/sub")).unwrap();
    fs::remove_file(path("to/sub")).unwrap();
    fs::rename(path("moved"), path("to/sub")).unwrap();
    assert_eq!(find().results().map(below).collect::<Vec<_>>(), ["to/a.dpn"]);
    // A folder that has become a file has no sources any more.
    fs::remove_file(path("from/sub")).unwrap();
    fs::write(path("from/sub"), "a file").unwrap();
    assert_eq!(find().results().len(), 3);
}

/// Another program replaces an object while the user is asked whether to remove objects.
#[test]
fn objects_without_a_source_are_removed_unless_they_were_replaced() {
    let bench = Bench::new();
    let (from, to) = (bench.folder.path().join("from"), bench.prefix("s3://b/to/"));
    fs::create_dir_all(from.join("sub")).unwrap();
    fs::write(from.join("sub/kept"), "there").unwrap();
    let put = |name: &str, text: &str| {
        bench.store.put(&address(&format!("s3://b/{name}")), text.as_bytes().to_vec().into(), true).unwrap();
    };
    for name in ["to/a.dpn", "to/b.dpn", "to/c.dpn", "to/sub/kept.dpn", "to/sub.dpn", "to/plain", "beside/a.dpn"] {
        put(name, "sealed");
    }
    put("to/foreign.dpn", "foreign");
    let act = Seal(bench.key.clone());
    let gone = Gone::find(&Tree::new(from.clone()), &to, &act, &Filter::default(), None).unwrap();
    assert_eq!(gone.foreign(), [PathBuf::from("s3://b/to/foreign.dpn")]);
    let results: Vec<_> = gone.results().map(|path| path.to_str().unwrap().to_owned()).collect();
    // A folder has the name of the source of `sub.dpn`.
    assert_eq!(results, ["a", "b", "c", "sub"].map(|name| format!("s3://b/to/{name}.dpn")));
    assert_eq!(gone.folders().len(), 0);
    put("to/b.dpn", "again!");
    fs::write(from.join("c"), "there again").unwrap();
    let mut told = Vec::new();
    gone.remove(|removal| told.push((removal.path.to_str().unwrap().to_owned(), removal.result.is_ok())));
    let expected = [("a", true), ("b", false), ("sub", true)];
    assert_eq!(told, expected.map(|(name, is_removed)| (format!("s3://b/to/{name}.dpn"), is_removed)));
    let left = bench.store.list(&address("s3://b/"), None).unwrap().map(|entry| entry.unwrap().name);
    let mut left: Vec<_> = left.collect();
    left.sort();
    let expected = ["beside/a.dpn", "to/b.dpn", "to/c.dpn", "to/foreign.dpn", "to/plain", "to/sub/kept.dpn"];
    assert_eq!(left, expected);
}

/// Seals, and changes the source right after it was read. The source keeps its length and its time.
struct Meddling(Seal, PathBuf, Mutex<Vec<&'static str>>);

impl Act for Meddling {
    fn verb(&self) -> &'static str {
        self.0.verb()
    }

    fn target(&self, name: &str) -> Option<String> {
        self.0.target(name)
    }

    fn whole(&self, about: &About, data: &[u8]) -> Result<Option<(Vec<u8>, Metadata)>, Foreign> {
        let text = self.2.lock().unwrap().pop();
        if let Some(text) = text {
            fs::write(&self.1, text)?;
            fs::File::options().write(true).open(&self.1)?.set_modified(about.modified)?;
        }
        self.0.whole(about, data)
    }

    fn stream(
        &self,
        _about: &About,
        _from: &mut (dyn Read + Send),
        _to: &mut (dyn Write + Send),
    ) -> Result<Metadata, Foreign> {
        unreachable!("the source is short")
    }

    fn divide(&self, _about: &About, _start: &[u8]) -> Result<Option<Divided>, Foreign> {
        Ok(None)
    }
}

/// In an earlier version, the result was kept, because the source had the same time and length as before.
#[test]
fn a_change_during_the_work_is_noticed_although_the_time_is_set_back() {
    let bench = Bench::new();
    let (from, to) = (bench.folder("from"), bench.folder("to"));
    let path = bench.folder.path().join("from/a");
    for (changes, expected) in [(&["two"][..], Some("two")), (&["six", "ten", "one"][..], None)] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "old").unwrap();
        let act = Meddling(Seal(bench.key.clone()), path.clone(), Mutex::new(changes.to_vec()));
        let log = Log::default();
        let key = bench.job.stamps().clone();
        Run::new(&act, &Files, &log).replace(true).stamps(Some(key)).all(&from, &to, || Ok(())).unwrap();
        let log = log.0.into_inner().unwrap();
        match expected {
            Some(text) => {
                assert_eq!(names(&log), [("a", "Made(3)")]);
                let open = Open(bench.key.clone());
                bench.run(&open, &to, &bench.folder("back"), |run| run.replace(true));
                assert_eq!(bench.read("back/a"), text.as_bytes());
            }
            None => assert_eq!(names(&log), [("a", "failed: the source changed while it was read")]),
        }
    }
}
