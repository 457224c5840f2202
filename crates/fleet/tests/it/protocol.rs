//! A model check of the protocol of long results (`src/long.rs`). The model check explores all orders of requests,
//! crashes, lost answers and late answers.
//!
//! A state (`World`) consists of a store with a source, a target, uploads and manifests, and of several processes that
//! make the target from the source. A step of the search is one request to the store. The search visits all states that
//! can be reached. The search is a breadth-first search, so the trace of a violation is the shortest trace. States that
//! differ only in the names of uploads, or in the order of equal processes, are treated as one state.
//!
//! The search checks in every world:
//!
//! 1. The target is a whole object: all its parts have one file key and come from one version of the source.
//! 2. An object is replaced only if the user asked for this, and never by an object from an older version of the
//!    source.
//! 3. A process reports success only if the target is whole and comes from a version that the source had while the
//!    process ran.
//! 4. When all processes have ended or crashed, one more run is enough to make the target and to remove the manifest of
//!    the source's present version. If the user asked for replacing, the target comes from the present version of the
//!    source.
//! 5. A manifest is removed only when its upload is over, so that no upload with a manifest is lost.
//! 6. A process never ends the upload of a newer version of the source.
//! 7. No process fails if there are no crashes, if the source does not change, and if only these processes end uploads,
//!    even if answers are lost.
//!
//! The tests also remove one rule of the protocol at a time, and expect the violation that the rule prevents.
//!
//! The model does not contain lengths, encryption, lists of more than one page, clocks, stores that ignore conditions,
//! and stores that end an upload before its object exists. The model also does not contain lost answers to the request
//! that begins an upload. After such a loss, the client repeats the request, and no manifest ever contains the name of
//! the first upload.

use std::hash::{Hash, Hasher};

/// The largest number of parts, of named uploads, of versions of the source, and of processes.
const PARTS: usize = 3;
const UPLOADS: usize = 7;
const VERSIONS: usize = 3;
const PROCESSES: usize = 5;
/// The same number as in `long.rs`.
const TRIES: u8 = 3;
/// The version of `cluster clean`. `cluster clean` treats all manifests as manifests of other versions.
const NONE: u8 = VERSIONS as u8;
/// The file key of a target that exists at the beginning. Higher numbers are keys of single processes.
const OLD: u8 = UPLOADS as u8 + 1;

/// The rules of the protocol. `long.rs` follows these rules.
#[derive(Clone, Copy)]
struct Rules {
    /// The source is read with If-Match.
    pinned: bool,
    /// The manifest's path depends on the version of the source.
    tagged: bool,
    /// The target is completed with If-None-Match, unless the user allowed the target to be replaced.
    careful: bool,
    /// All processes use the file key from the manifest, instead of their own file keys.
    one_key: bool,
    /// The list of finished parts comes from the store, and not from a record that a process writes after its part.
    listed: bool,
    /// A process uses only parts of the manifest's own upload.
    own_parts: bool,
    /// If a process could not write the manifest, it reads the manifest, since an earlier try may have written it.
    read_back: bool,
    /// A manifest whose upload is over is removed at the beginning. If the target object does not exist, the same run
    /// then starts again.
    anew: bool,
    /// A manifest is removed only if it is still the manifest that was read.
    own_manifest: bool,
    /// A process checks whether another process has completed the target. The process checks for a completed target
    /// before an upload begins, after the manifest was written, and before the process fails. A target that is not
    /// older than the source is a success.
    looks: bool,
    /// Every process removes the state of other versions, even if another process wrote the manifest.
    all_remove: bool,
    /// Only the state of older versions is removed, and not the state of newer versions.
    older_only: bool,
    /// On 409 (another request for the same object is running) a process tries again, and does not end the upload.
    patient: bool,
    /// The date of the target is the time when its upload began, as on Amazon's S3, and not the time when its upload
    /// ended.
    dated_early: bool,
}

const RIGHT: Rules = Rules {
    pinned: true,
    tagged: true,
    careful: true,
    one_key: true,
    listed: true,
    own_parts: true,
    read_back: true,
    anew: true,
    own_manifest: true,
    looks: true,
    all_remove: true,
    older_only: true,
    patient: true,
    dated_early: true,
};

/// The events in a search, and how often each event can happen.
#[derive(Clone, Copy)]
struct Setting {
    rules: Rules,
    /// The parts that each process makes, as bits. 0 stands for `cluster clean`.
    processes: &'static [u8],
    parts: u8,
    /// Whether the target may be replaced.
    replace: bool,
    /// Whether there is a target of an older version at the beginning.
    is_old: bool,
    /// How often the source is replaced.
    changes: u8,
    crashes: u8,
    /// The number of lost answers. After a lost answer, the client repeats the request.
    lost: u8,
    /// Whether the client may also return an error, instead of repeating the request, when it writes the manifest.
    gives_up: bool,
    /// The number of uploads that the store ends by its own rule.
    ended: u8,
}

/// A driver makes all parts.
const ALL: u8 = 0b111;

const CALM: Setting = Setting {
    rules: RIGHT,
    processes: &[ALL, ALL],
    parts: 2,
    replace: false,
    is_old: false,
    changes: 0,
    crashes: 0,
    lost: 0,
    gives_up: false,
    ended: 0,
};

impl Setting {
    /// Whether no process may fail.
    fn is_calm(&self) -> bool {
        self.changes + self.crashes + self.ended == 0 && !self.gives_up && !self.processes.contains(&0)
    }
}

/// The position of a process in the protocol: the request that the process sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum At {
    OpenSource,
    ReadManifest {
        tries: u8,
    },
    /// Checks whether the manifest's upload exists. If the upload does not exist, also checks whether the target
    /// exists.
    Alive {
        tries: u8,
    },
    Drop {
        tries: u8,
    },
    /// Checks whether the target exists already, before an upload begins.
    LookBefore {
        tries: u8,
    },
    Create {
        tries: u8,
    },
    Write {
        tries: u8,
    },
    ReadBack {
        tries: u8,
    },
    AbortOwn {
        tries: u8,
        fails: bool,
    },
    LookAfter,
    ListOthers,
    ReadOther {
        rest: u8,
    },
    AbortOther {
        rest: u8,
        other: u8,
    },
    DeleteOther {
        rest: u8,
        other: u8,
    },
    ReadPart {
        part: u8,
    },
    Put {
        part: u8,
        version: u8,
    },
    /// Records a part, if the store does not list parts.
    Record {
        part: u8,
        is_last: bool,
    },
    List,
    /// `is_last` means that no part was sent again since the list was read.
    Complete {
        is_last: bool,
    },
    /// Checks whether the target is the object of the manifest.
    Look {
        in_part: bool,
    },
    Abort {
        succeeds: bool,
    },
    Forget {
        succeeds: bool,
    },
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Process {
    at: At,
    version: u8,
    upload: u8,
}

const GONE: Process = Process { at: At::Gone, version: 0, upload: 0 };

/// A part of an upload: the file key that sealed it (0 if the part is missing), the version of the source that it was
/// made from, and whether some process has recorded the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
struct Part {
    key: u8,
    version: u8,
    record: Record,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
enum Record {
    #[default]
    None,
    /// The record names the existing part.
    Right,
    /// The part was sent again after the record was written.
    Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
struct Upload {
    is_there: bool,
    /// The version that the source had when the upload began.
    begun: u8,
    parts: [Part; PARTS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Target {
    parts: [Part; PARTS],
    /// The version of the source at the date of the target.
    dated: u8,
}

/// The state of everything. Uploads are numbered from 1, and 0 means no upload. An upload's number is also the number
/// of the file key in its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct World {
    source: u8,
    target: Option<Target>,
    manifests: [u8; VERSIONS],
    uploads: [Upload; UPLOADS],
    processes: [Process; PROCESSES],
    /// The last request of a process that crashed or gave up. This request may still take effect.
    late: Option<Process>,
    changes: u8,
    crashes: u8,
    lost: u8,
    ended: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// A process sends its next request.
    Step(usize),
    /// A process makes a part that exists already, because its list of the parts is old.
    Again(usize),
    /// The store answers 409.
    Conflict(usize),
    /// The answer is lost, and the client repeats the request.
    Lost(usize),
    /// The answer about the manifest is lost, and the client returns an error.
    GiveUp(usize, Effect),
    Crash(usize, Effect),
    /// The late request takes effect.
    Late,
    Change,
    EndUpload(usize),
}

/// The time when the last request of a client takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Now,
    Later,
    Never,
}

/// The reason why a state is wrong: the number in the module's list, and a text.
type Wrong = (u8, &'static str);

/// An answer of the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Done,
    Exists,
    Ended,
    WrongPart,
}

/// The requests to the store.
impl World {
    fn create(&mut self, rules: &Rules) -> u8 {
        let is_free = |number: &u8| {
            let upload = &self.uploads[*number as usize - 1];
            !self.is_named(*number) && (rules.own_parts || upload.parts.iter().all(|part| part.key == 0))
        };
        let number = (1..=UPLOADS as u8).find(is_free).expect("UPLOADS is large enough");
        self.uploads[number as usize - 1] = Upload { is_there: true, begun: self.source, ..Upload::default() };
        number
    }

    fn is_over(&self, upload: u8) -> bool {
        !self.uploads[upload as usize - 1].is_there
    }

    fn abort(&mut self, rules: &Rules, upload: u8) {
        let upload = &mut self.uploads[upload as usize - 1];
        upload.is_there = false;
        if rules.own_parts {
            upload.parts = Default::default();
        }
    }

    fn write(&mut self, slot: usize, upload: u8) -> bool {
        let is_free = self.manifests[slot] == 0;
        if is_free {
            self.manifests[slot] = upload;
        }
        is_free
    }

    /// Removes a manifest. `upload` is the upload whose name the manifest contained when it was read.
    fn delete(&mut self, rules: &Rules, slot: usize, upload: u8) -> Result<(), Wrong> {
        let named = self.manifests[slot];
        if named == 0 || (rules.own_manifest && named != upload) {
            return Ok(());
        }
        self.manifests[slot] = 0;
        if self.is_over(named) { Ok(()) } else { Err((5, "the manifest of a living upload was removed")) }
    }

    fn put(&mut self, upload: u8, part: u8, key: u8, version: u8) -> bool {
        if self.is_over(upload) {
            return false;
        }
        let there = &mut self.uploads[upload as usize - 1].parts[part as usize];
        let record = if there.record == Record::None { Record::None } else { Record::Wrong };
        *there = Part { key, version, record };
        for process in self.processes.iter_mut().chain(&mut self.late).filter(|process| process.upload == upload) {
            match &mut process.at {
                At::Complete { is_last } => *is_last = false,
                At::Record { part: other, is_last } if *other == part => *is_last = false,
                _ => {}
            }
        }
        true
    }

    /// Returns the parts that can be used to complete an upload.
    fn parts(&self, setting: &Setting, upload: u8) -> [Part; PARTS] {
        let mut parts = self.uploads[upload as usize - 1].parts;
        if !setting.rules.own_parts {
            for (index, part) in parts.iter_mut().enumerate().filter(|(_, part)| part.key == 0) {
                let older = self.uploads.iter().map(|upload| upload.parts[index]).find(|part| part.key != 0);
                *part = older.unwrap_or_default();
            }
        }
        parts
    }

    fn complete(&mut self, setting: &Setting, upload: u8, is_last: bool) -> Result<Answer, Wrong> {
        let rules = &setting.rules;
        if self.is_over(upload) {
            return Ok(Answer::Ended);
        }
        if self.target.is_some() && !setting.replace && rules.careful {
            return Ok(Answer::Exists);
        }
        if !is_last {
            return Ok(Answer::WrongPart);
        }
        let mut parts = self.parts(setting, upload);
        parts.iter_mut().for_each(|part| part.record = Record::None);
        let dated = if rules.dated_early { self.uploads[upload as usize - 1].begun } else { self.source };
        let before = self.target.replace(Target { parts, dated });
        self.abort(rules, upload);
        if before.is_some() && !setting.replace {
            return Err((2, "an object was replaced, and that was not asked for"));
        }
        let first = (parts[0].key, parts[0].version);
        if first.0 == 0 || parts[..setting.parts as usize].iter().any(|part| (part.key, part.version) != first) {
            return Err((1, "the target mixes file keys or versions"));
        }
        if before.is_some_and(|before| before.parts[0].version > first.1) {
            return Err((2, "an object was replaced by one of an older version"));
        }
        Ok(Answer::Done)
    }
}

/// The processes.
impl World {
    /// Sends the next request of a process, and returns the new state of the process. If `again` is set, the process
    /// makes a part although the part already exists.
    fn step(&mut self, setting: &Setting, index: usize, again: bool) -> Result<Process, Wrong> {
        let (rules, process) = (&setting.rules, self.processes[index]);
        let Process { at, version, upload } = process;
        let (slot, to) = (process.slot(rules), |at| Ok(Process { at, ..process }));
        let first_part = process.next_part(setting, index, 0);
        let others = if rules.all_remove { Process { at: At::ListOthers, ..process } } else { first_part };
        let won = || to(if rules.looks { At::LookAfter } else { At::ListOthers });
        let is_own = self.target.is_some_and(|target| target.parts[0].key == upload);
        let is_new = rules.looks && self.target.is_some_and(|target| target.dated >= version);
        match at {
            At::OpenSource => Ok(Process { at: At::ReadManifest { tries: 0 }, version: self.source, upload: 0 }),
            At::ReadManifest { tries } => match self.manifests[slot] {
                0 if rules.looks => to(At::LookBefore { tries }),
                0 => to(At::Create { tries }),
                upload if rules.anew => Ok(Process { at: At::Alive { tries }, upload, ..process }),
                upload => Ok(Process { upload, ..others }),
            },
            At::Alive { .. } if !self.is_over(upload) => Ok(others),
            At::Alive { .. } if is_own || is_new => to(At::Forget { succeeds: true }),
            At::Alive { tries } => to(At::Drop { tries }),
            At::Drop { tries } => {
                self.delete(rules, slot, upload)?;
                process.retry(setting, tries)
            }
            At::LookBefore { .. } if is_new => self.succeed(version),
            At::LookBefore { .. } if self.target.is_some() && !setting.replace => setting.fail(),
            At::LookBefore { tries } => to(At::Create { tries }),
            At::Create { tries } => Ok(Process { at: At::Write { tries }, upload: self.create(rules), ..process }),
            At::Write { tries } => match self.write(slot, upload) {
                true => won(),
                false if rules.read_back => to(At::ReadBack { tries }),
                false => to(At::AbortOwn { tries, fails: false }),
            },
            At::ReadBack { .. } if self.manifests[slot] == upload => won(),
            At::ReadBack { tries } => to(At::AbortOwn { tries, fails: false }),
            At::AbortOwn { tries, fails } => {
                self.abort(rules, upload);
                if fails { setting.fail() } else { process.retry(setting, tries) }
            }
            At::LookAfter if is_new || (self.target.is_some() && !setting.replace) => {
                to(At::Abort { succeeds: is_new })
            }
            At::LookAfter => to(At::ListOthers),
            At::ListOthers => match self.others(rules, version) {
                0 => Ok(first_part),
                rest => to(At::ReadOther { rest }),
            },
            At::ReadOther { rest } => match self.manifests[rest.trailing_zeros() as usize] {
                0 if rules.own_manifest => process.next_other(rest, first_part),
                0 => to(At::DeleteOther { rest, other: 0 }),
                other => to(At::AbortOther { rest, other }),
            },
            At::AbortOther { rest, other } => {
                let is_newer = version != NONE && rest.trailing_zeros() > u32::from(version) && !self.is_over(other);
                self.abort(rules, other);
                if is_newer {
                    return Err((6, "a process ended the upload of a newer version"));
                }
                to(At::DeleteOther { rest, other })
            }
            At::DeleteOther { rest, other } => {
                self.delete(rules, rest.trailing_zeros() as usize, other)?;
                process.next_other(rest, first_part)
            }
            At::ReadPart { .. } if self.is_over(upload) && !again => to(At::Look { in_part: true }),
            At::ReadPart { part } => {
                let there = self.parts(setting, upload)[part as usize];
                if !again && there.is_known(rules) {
                    Ok(process.next_part(setting, index, part + 1))
                } else if rules.pinned && self.source != version {
                    setting.fail()
                } else {
                    to(At::Put { part, version: self.source })
                }
            }
            At::Put { part, version } => {
                let key = if rules.one_key { upload } else { OLD + 1 + index as u8 };
                match self.put(upload, part, key, version) {
                    false => to(At::Look { in_part: true }),
                    true if rules.listed => Ok(process.next_part(setting, index, part + 1)),
                    true => to(At::Record { part, is_last: true }),
                }
            }
            At::Record { part, is_last } => {
                let there = &mut self.uploads[upload as usize - 1].parts[part as usize];
                if there.record == Record::None && there.key != 0 {
                    there.record = if is_last { Record::Right } else { Record::Wrong };
                }
                Ok(process.next_part(setting, index, part + 1))
            }
            At::List if self.is_over(upload) => to(At::Look { in_part: false }),
            At::List => {
                let parts = &self.parts(setting, upload)[..setting.parts as usize];
                let is_last = rules.listed || parts.iter().all(|part| part.record == Record::Right);
                if parts.iter().all(|part| part.is_known(rules)) { to(At::Complete { is_last }) } else { Ok(GONE) }
            }
            At::Complete { is_last } => match self.complete(setting, upload, is_last)? {
                Answer::Done => to(At::Forget { succeeds: true }),
                Answer::WrongPart => to(At::List),
                Answer::Exists | Answer::Ended => to(At::Look { in_part: false }),
            },
            At::Look { in_part } => match (is_own, in_part) {
                (true, true) if !rules.anew => self.succeed(version),
                (true, true) => to(At::Forget { succeeds: true }),
                (true, false) => to(At::Abort { succeeds: true }),
                (false, true) => to(At::Forget { succeeds: is_new }),
                (false, false) => to(At::Abort { succeeds: is_new }),
            },
            At::Abort { succeeds } => {
                self.abort(rules, upload);
                to(At::Forget { succeeds })
            }
            At::Forget { succeeds } => {
                self.delete(rules, slot, upload)?;
                if succeeds { self.succeed(version) } else { setting.fail() }
            }
            At::Gone => unreachable!("a process that has ended sends nothing"),
        }
    }

    fn succeed(&self, version: u8) -> Result<Process, Wrong> {
        match self.target {
            Some(target) if target.parts[0].version >= version => Ok(GONE),
            _ => Err((3, "a process reports success without its object")),
        }
    }

    /// Returns a bit mask of the versions whose uploads a process of this version removes.
    fn others(&self, rules: &Rules, version: u8) -> u8 {
        let is_other = |other: &u8| *other != version && (version == NONE || !rules.older_only || *other < version);
        let is_there = |other: &u8| self.manifests[*other as usize] != 0 && (rules.tagged || version == NONE);
        (0..NONE).filter(|other| is_there(other) && is_other(other)).fold(0, |bits, other| bits | 1 << other)
    }
}

impl Setting {
    fn fail(&self) -> Result<Process, Wrong> {
        if self.is_calm() { Err((7, "a process failed, and nothing had happened")) } else { Ok(GONE) }
    }
}

impl Part {
    fn is_known(self, rules: &Rules) -> bool {
        self.key != 0 && (rules.listed || self.record != Record::None)
    }
}

impl Process {
    /// Returns the index of the manifest.
    fn slot(self, rules: &Rules) -> usize {
        if rules.tagged && self.version != NONE { self.version as usize } else { 0 }
    }

    /// Returns the process in the state before its next part.
    fn next_part(self, setting: &Setting, index: usize, from: u8) -> Self {
        let parts = setting.processes[index];
        let at = match (from..setting.parts).find(|part| parts >> part & 1 == 1) {
            _ if self.version == NONE => return GONE,
            Some(part) => At::ReadPart { part },
            None => At::List,
        };
        Self { at, ..self }
    }

    /// Returns the process in the state before it reads the manifest of the next other version, or before its first
    /// part if no version remains.
    fn next_other(self, rest: u8, first_part: Self) -> Result<Self, Wrong> {
        match rest & (rest - 1) {
            0 => Ok(first_part),
            rest => Ok(Self { at: At::ReadOther { rest }, ..self }),
        }
    }

    /// Starts the protocol again, up to [`TRIES`] times.
    fn retry(self, setting: &Setting, tries: u8) -> Result<Self, Wrong> {
        match tries + 1 {
            TRIES => setting.fail(),
            tries => Ok(Self { at: At::ReadManifest { tries }, upload: 0, ..self }),
        }
    }

    fn uploads(&self) -> [u8; 2] {
        match self.at {
            At::AbortOther { other, .. } | At::DeleteOther { other, .. } => [self.upload, other],
            _ => [self.upload, 0],
        }
    }

    /// Whether the next request changes data that other processes can read.
    fn is_write(&self) -> bool {
        matches!(
            self.at,
            At::Drop { .. }
                | At::Write { .. }
                | At::AbortOwn { .. }
                | At::Put { .. }
                | At::Complete { .. }
                | At::AbortOther { .. }
                | At::DeleteOther { .. }
                | At::Abort { .. }
                | At::Forget { .. }
        )
    }
}

/// The events.
impl World {
    fn new(setting: &Setting) -> Self {
        let mut processes = [GONE; PROCESSES];
        for (process, parts) in processes.iter_mut().zip(setting.processes) {
            let (at, version) = if *parts == 0 { (At::ListOthers, NONE) } else { (At::OpenSource, 0) };
            *process = Process { at, version, upload: 0 };
        }
        let part = Part { key: OLD, ..Part::default() };
        Self {
            source: u8::from(setting.is_old),
            target: setting.is_old.then_some(Target { parts: [part; PARTS], dated: 0 }),
            manifests: [0; VERSIONS],
            uploads: [Upload::default(); UPLOADS],
            processes,
            late: None,
            changes: setting.changes,
            crashes: setting.crashes,
            lost: setting.lost,
            ended: setting.ended,
        }
    }

    fn events(&self, setting: &Setting, events: &mut Vec<Event>) {
        let effects = if self.late.is_none() { &[Effect::Never, Effect::Later][..] } else { &[Effect::Never] };
        let is_completed = |process: &&Process| matches!(process.at, At::Complete { .. });
        let completed = self.processes.iter().filter(is_completed).count();
        for (index, process) in self.processes.iter().enumerate().filter(|(_, process)| process.at != At::Gone) {
            events.push(Event::Step(index));
            if let At::ReadPart { part } = process.at
                && (self.is_over(process.upload) || self.parts(setting, process.upload)[part as usize].key != 0)
            {
                events.push(Event::Again(index));
            }
            if is_completed(&process) && !setting.replace && completed > 1 {
                events.push(Event::Conflict(index));
            }
            if self.lost > 0 && process.is_write() {
                events.push(Event::Lost(index));
            }
            if self.lost > 0 && setting.gives_up && matches!(process.at, At::Write { .. }) {
                events.push(Event::GiveUp(index, Effect::Now));
                events.extend(effects.iter().map(|effect| Event::GiveUp(index, *effect)));
            }
            if self.crashes > 0 && process.at != At::OpenSource {
                let effects = if process.is_write() { effects } else { &effects[..1] };
                events.extend(effects.iter().map(|effect| Event::Crash(index, *effect)));
            }
        }
        events.extend(self.late.map(|_| Event::Late));
        events.extend((self.changes > 0).then_some(Event::Change));
        let there = (0..UPLOADS).filter(|upload| self.ended > 0 && self.uploads[*upload].is_there);
        events.extend(there.map(|upload| Event::EndUpload(upload + 1)));
    }

    fn apply(&mut self, setting: &Setting, event: Event) -> Result<(), Wrong> {
        match event {
            Event::Step(index) => self.processes[index] = self.step(setting, index, false)?,
            Event::Again(index) => self.processes[index] = self.step(setting, index, true)?,
            Event::Conflict(index) => {
                let at = if setting.rules.patient { At::List } else { At::Look { in_part: false } };
                self.processes[index].at = at;
            }
            Event::Lost(index) => {
                self.lost -= 1;
                self.request(setting, self.processes[index])?;
            }
            Event::GiveUp(index, effect) => {
                self.lost -= 1;
                self.take(setting, self.processes[index], effect)?;
                if let At::Write { tries } = self.processes[index].at {
                    let fails = At::AbortOwn { tries, fails: true };
                    self.processes[index].at = if setting.rules.read_back { At::ReadBack { tries } } else { fails };
                }
            }
            Event::Crash(index, effect) => {
                self.crashes -= 1;
                let process = std::mem::replace(&mut self.processes[index], GONE);
                self.take(setting, process, effect)?;
            }
            Event::Late => {
                let process = self.late.take().expect("a late request");
                self.request(setting, process)?;
            }
            Event::Change => (self.source, self.changes) = (self.source + 1, self.changes - 1),
            Event::EndUpload(upload) => {
                self.ended -= 1;
                self.abort(&setting.rules, upload as u8);
            }
        }
        Ok(())
    }

    fn take(&mut self, setting: &Setting, process: Process, effect: Effect) -> Result<(), Wrong> {
        match effect {
            Effect::Now => self.request(setting, process)?,
            Effect::Later => self.late = Some(process),
            Effect::Never => {}
        }
        Ok(())
    }

    /// Executes a request without an answer to the process.
    fn request(&mut self, setting: &Setting, process: Process) -> Result<(), Wrong> {
        let (rules, upload, slot) = (&setting.rules, process.upload, process.slot(&setting.rules));
        match process.at {
            At::Write { .. } => _ = self.write(slot, upload),
            At::AbortOwn { .. } | At::Abort { .. } => self.abort(rules, upload),
            At::AbortOther { other, .. } => self.abort(rules, other),
            At::Drop { .. } | At::Forget { .. } => self.delete(rules, slot, upload)?,
            At::DeleteOther { rest, other } => self.delete(rules, rest.trailing_zeros() as usize, other)?,
            At::Put { part, version } => _ = self.put(upload, part, upload, version),
            At::Complete { is_last } => _ = self.complete(setting, upload, is_last)?,
            _ => {}
        }
        Ok(())
    }

    /// Whether a manifest or process contains the number of the upload, or the target has the file key of the upload.
    fn is_named(&self, upload: u8) -> bool {
        self.manifests.contains(&upload)
            || self.processes.iter().chain(&self.late).any(|process| process.uploads().contains(&upload))
            || self.target.is_some_and(|target| target.parts.iter().any(|part| part.key == upload))
    }

    /// Converts equal states to the same form, and returns the number of uploads that can no longer be found.
    fn tidy(&mut self, setting: &Setting) -> u64 {
        if !setting.rules.one_key || !setting.rules.own_parts {
            return 0;
        }
        let mut from = 0;
        for same in setting.processes.chunk_by(|one, other| one == other) {
            self.processes[from..from + same.len()].sort_unstable();
            from += same.len();
        }
        // The uploads get new numbers in the order in which the state refers to them.
        let mut numbers = [0; OLD as usize + 1];
        (numbers[OLD as usize], numbers[0]) = (OLD, 0);
        let mut next = 0;
        let mut rename = |number: &mut u8| {
            if *number > 0 && numbers[*number as usize] == 0 {
                next += 1;
                numbers[*number as usize] = next;
            }
            *number = numbers[*number as usize];
        };
        self.manifests.iter_mut().for_each(&mut rename);
        for process in self.processes.iter_mut().chain(&mut self.late) {
            rename(&mut process.upload);
            if let At::AbortOther { other, .. } | At::DeleteOther { other, .. } = &mut process.at {
                rename(other);
            }
        }
        self.target.iter_mut().flat_map(|target| &mut target.parts).for_each(|part| rename(&mut part.key));
        let (mut uploads, mut lost) = ([Upload::default(); UPLOADS], 0);
        for (mut upload, number) in self.uploads.into_iter().zip(&numbers[1..]).filter(|(upload, _)| upload.is_there) {
            upload.parts.iter_mut().for_each(|part| part.key = numbers[part.key as usize]);
            match number {
                0 => lost += 1,
                number => uploads[*number as usize - 1] = upload,
            }
        }
        self.uploads = uploads;
        lost
    }

    /// If the target is not right, or a manifest of this version still exists, runs one more process alone. Returns
    /// whether the run was needed.
    fn ends_in_a_run(&self, setting: &Setting) -> Result<bool, Wrong> {
        let (mut world, slot) = (*self, if setting.rules.tagged { self.source as usize } else { 0 });
        (world.processes, world.late) = ([GONE; PROCESSES], None);
        // The setting allows a crash, so the process may fail.
        let alone = Setting { processes: &[ALL], crashes: 1, ..*setting };
        for is_needed in [false, true] {
            // A run that compares dates does not replace a target that is not older than its source.
            let target = world.target.filter(|target| !setting.replace || target.dated >= world.source);
            if target.is_some_and(|target| setting.replace && target.parts[0].version < world.source) {
                return Err((4, "the target is newer than its source, and made of an older version"));
            }
            if target.is_some() && world.manifests[slot] == 0 {
                return Ok(is_needed);
            }
            world.processes[0] = Process { at: At::OpenSource, ..GONE };
            // 60 requests are enough. Only a process that retries without end would send more than 60 requests.
            for _ in 0..60 {
                if world.processes[0] != GONE {
                    world.processes[0] = world.step(&alone, 0, false)?;
                }
            }
        }
        Err((4, "one more run does not end it"))
    }
}

/// The results of a search.
#[derive(Debug, Default)]
struct Found {
    worlds: usize,
    /// The number of final states, in which all processes have ended or crashed.
    ends: usize,
    /// The number of final states in which one more run is needed.
    runs: usize,
    /// The number of final states with a target and a manifest. A run that compares dates does not remove this
    /// manifest.
    left: usize,
    /// The number of times that an upload without a manifest was lost.
    orphans: u64,
}

/// All states that were seen, and the events that lead to each state.
struct Seen {
    worlds: Vec<World>,
    ways: Vec<(u32, Event)>,
    /// A hash table from states to their numbers, counted from 1. 0 marks an empty slot.
    table: Vec<u32>,
}

/// Mixes bytes quickly. Equal hashes do no harm, because the states are compared.
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u8(*byte));
    }

    fn write_u8(&mut self, byte: u8) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u8(number as u8);
    }

    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0 >> 24
    }
}

impl Seen {
    fn place(&self, world: &World) -> usize {
        let mut mix = Mix(0);
        world.hash(&mut mix);
        let mask = self.table.len() - 1;
        let mut place = mix.finish() as usize & mask;
        while self.table[place] != 0 && self.worlds[self.table[place] as usize - 1] != *world {
            place = (place + 1) & mask;
        }
        place
    }

    fn add(&mut self, world: World, from: usize, event: Event) {
        if 2 * self.worlds.len() >= self.table.len() {
            self.table = vec![0; 2 * self.table.len()];
            for number in 0..self.worlds.len() {
                let place = self.place(&self.worlds[number]);
                self.table[place] = number as u32 + 1;
            }
        }
        let place = self.place(&world);
        if self.table[place] == 0 {
            self.worlds.push(world);
            self.ways.push((from as u32, event));
            self.table[place] = self.worlds.len() as u32;
        }
    }

    /// Returns the events that lead to a state, followed by the last event, each with the positions of the processes.
    fn trace(&self, mut number: usize, last: Option<Event>) -> Vec<String> {
        let mut trace: Vec<_> = last.iter().map(|event| event.told(&self.worlds[number])).collect();
        while number > 0 {
            let (from, event) = self.ways[number];
            number = from as usize;
            trace.push(event.told(&self.worlds[number]));
        }
        trace.reverse();
        trace
    }
}

impl Event {
    fn told(self, world: &World) -> String {
        match self {
            Self::Late | Self::Change | Self::EndUpload(_) => format!("{self:?}"),
            Self::Step(index)
            | Self::Again(index)
            | Self::Conflict(index)
            | Self::Lost(index)
            | Self::GiveUp(index, _)
            | Self::Crash(index, _) => format!("{self:?} {:?}", world.processes[index]),
        }
    }
}

/// Searches all worlds. Returns the first violation, with its trace.
fn search(setting: &Setting) -> Result<Found, (Wrong, Vec<String>)> {
    let mut seen = Seen { worlds: Vec::new(), ways: Vec::new(), table: vec![0; 1 << 16] };
    let (mut found, mut events) = (Found::default(), Vec::new());
    seen.add(World::new(setting), 0, Event::Late);
    while let Some(world) = seen.worlds.get(found.worlds).copied() {
        let number = found.worlds;
        found.worlds += 1;
        if world.processes.iter().all(|process| *process == GONE) {
            let is_needed = world.ends_in_a_run(setting).map_err(|wrong| (wrong, seen.trace(number, None)))?;
            (found.ends, found.runs) = (found.ends + 1, found.runs + usize::from(is_needed));
            found.left += usize::from(world.target.is_some() && world.manifests != [0; VERSIONS]);
        }
        events.clear();
        world.events(setting, &mut events);
        for event in events.iter().copied() {
            let mut next = world;
            next.apply(setting, event).map_err(|wrong| (wrong, seen.trace(number, Some(event))))?;
            found.orphans += next.tidy(setting);
            seen.add(next, number, event);
        }
    }
    Ok(found)
}

/// Searches all reachable states, prints the trace of a violation, and checks that at least `least` states were seen.
fn is_right(setting: &Setting, least: usize) -> Found {
    let found = search(setting).unwrap_or_else(|(wrong, trace)| panic!("{wrong:?}\n{}", trace.join("\n")));
    assert!(found.worlds >= least && found.ends > 0, "{found:?}");
    found
}

/// Each worker makes one of two or three parts.
const FIRST: u8 = 0b001;
const SECOND: u8 = 0b010;
const THIRD: u8 = 0b100;
const CLEAN: u8 = 0;

/// Three searches: 1,313,914 states, 45,070 states (the target is replaced) and 131,992 states (three parts).
#[test]
fn without_disturbance_all_succeed_and_nothing_stays() {
    let five = &[ALL, ALL, FIRST, FIRST, SECOND];
    let found = [
        is_right(&Setting { processes: five, ..CALM }, 1_300_000),
        is_right(&Setting { processes: &five[..4], replace: true, is_old: true, ..CALM }, 45_000),
        is_right(&Setting { processes: &[ALL, FIRST, SECOND, THIRD], parts: 3, ..CALM }, 130_000),
    ];
    assert!(found.iter().all(|found| (found.runs, found.left, found.orphans) == (0, 0, 0)), "{found:?}");
}

/// Three searches: 285,647 states (at most one crash), 11,830 states (at most three crashes) and 377,082 states (three
/// parts).
#[test]
fn crashes() {
    let found = is_right(&Setting { processes: &[ALL, ALL, FIRST, SECOND], crashes: 1, ..CALM }, 280_000);
    // The model finds uploads whose process crashed before it wrote their manifest, and states in which one more run is
    // needed.
    assert!(found.orphans > 0 && found.runs > 0 && found.left > 0, "{found:?}");
    is_right(&Setting { processes: &[ALL, ALL, FIRST], crashes: 3, ..CALM }, 10_000);
    is_right(&Setting { processes: &[ALL, FIRST, SECOND, THIRD], parts: 3, crashes: 1, ..CALM }, 370_000);
}

/// Two searches: 12,165 states (at most one lost answer) and 286,491 states (at most two lost answers).
#[test]
fn lost_answers() {
    let lost = Setting { processes: &[ALL, ALL, FIRST], lost: 1, ..CALM };
    is_right(&lost, 12_000);
    is_right(&Setting { gives_up: true, lost: 2, ..lost }, 280_000);
}

/// Two searches: 85,865 states (the store ends uploads) and 67,713 states (with `cluster clean`).
#[test]
fn uploads_that_others_end() {
    is_right(&Setting { processes: &[ALL, ALL, FIRST], ended: 2, ..CALM }, 85_000);
    let found = is_right(&Setting { processes: &[ALL, ALL, FIRST, CLEAN], ..CALM }, 67_000);
    assert_eq!(found.orphans, 0, "{found:?}");
}

/// Three searches: 49,993 states, 49,146 states (the target is replaced) and 264,248 states (two changes of the
/// source).
#[test]
fn sources_that_change() {
    let three = Setting { processes: &[ALL, ALL, FIRST], changes: 1, ..CALM };
    is_right(&three, 49_000);
    is_right(&Setting { replace: true, is_old: true, ..three }, 49_000);
    is_right(&Setting { replace: true, changes: 2, ..three }, 260_000);
}

/// Three searches: 59,918 states, 59,561 states (the target is replaced) and 1,030,289 states (three processes).
#[test]
fn all_at_once() {
    let all = Setting { changes: 1, crashes: 2, lost: 1, gives_up: true, ended: 1, ..CALM };
    is_right(&all, 59_000);
    is_right(&Setting { replace: true, is_old: true, ..all }, 59_000);
    let three = Setting { processes: &[ALL, FIRST, SECOND], replace: true, crashes: 1, lost: 0, ..all };
    is_right(&three, 1_000_000);
}

#[test]
fn each_rule_is_needed() {
    let three = Setting { processes: &[ALL, ALL, FIRST], ..CALM };
    let (changed, crashed) = (Setting { changes: 1, ..three }, Setting { crashes: 2, ..CALM });
    let (lost, ended, replaced) =
        (Setting { lost: 1, ..three }, Setting { ended: 1, ..three }, Setting { replace: true, ..changed });
    let left_out: [(&str, Setting, Rules, u8); _] = [
        ("pinned", changed, Rules { pinned: false, ..RIGHT }, 1),
        ("one_key", three, Rules { one_key: false, ..RIGHT }, 1),
        ("own_parts", ended, Rules { own_parts: false, ..RIGHT }, 1),
        ("careful", three, Rules { careful: false, ..RIGHT }, 2),
        ("all_remove", replaced, Rules { all_remove: false, ..RIGHT }, 2),
        ("tagged", changed, Rules { tagged: false, ..RIGHT }, 3),
        ("dated_early", replaced, Rules { dated_early: false, ..RIGHT }, 3),
        // Without the rule `listed`, the record can contain the wrong name of a part that two processes have made, and
        // then no run can complete the upload.
        ("listed", crashed, Rules { listed: false, ..RIGHT }, 4),
        // Without the rule `anew`, a manifest remains forever after a crash between the end of the upload and the
        // removal of the manifest.
        ("anew", crashed, Rules { anew: false, ..RIGHT }, 4),
        ("own_manifest", three, Rules { own_manifest: false, ..RIGHT }, 5),
        ("older_only", changed, Rules { older_only: false, ..RIGHT }, 6),
        ("read_back", lost, Rules { read_back: false, ..RIGHT }, 7),
        ("looks", three, Rules { looks: false, ..RIGHT }, 7),
        ("patient", three, Rules { patient: false, ..RIGHT }, 7),
    ];
    for (rule, setting, rules, number) in left_out {
        match search(&Setting { rules, ..setting }) {
            Ok(found) => panic!("without {rule}, nothing goes wrong: {found:?}"),
            Err((wrong, trace)) => assert_eq!(wrong.0, number, "without {rule}: {wrong:?}\n{}", trace.join("\n")),
        }
    }
}
