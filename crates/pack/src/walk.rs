//! Walks what is being packed. Returns the paths of the entries that go in, checks the limits of these paths, and finds
//! names that some systems treat as equal.

use std::fs::File;
use std::io;

use crate::error::{Action, Error, Refusal};
use crate::names::alikes;
use crate::note::LONGEST as LONGEST_LIST;
use crate::path::{DEEPEST, LONGEST};
use crate::shown::beginning;
use crate::shown::shown;
use deadpan_disk::portable::{OsStrExt, OsStringExt};
use deadpan_disk::{self as disk, About, Folder, WalkStep};
use deadpan_sieve::{Remark, Rules, Sieve};

/// A file, folder or symbolic link, without its path.
pub(crate) enum Node {
    Folder,
    File(File),
    SymbolicLink(Vec<u8>),
}

/// The reason why an entry is not packed.
#[derive(Debug)]
pub(crate) enum Missed {
    /// The entry was removed after its folder was read.
    Gone,
    /// The entry is left out by the rules.
    LeftOut,
    /// The entry is a device, a FIFO or a socket.
    Special,
    /// The entry cannot be read.
    Unreadable(Error),
}

/// An entry to pack, or the reason why it is not packed.
pub(crate) type Step = Result<(Node, About), Missed>;

pub(crate) struct Walk {
    walk: disk::Walk,
    sieve: Sieve,
    /// The paths that the next call of [`Walk::alike`] returns.
    alike: Vec<Vec<u8>>,
}

impl Walk {
    /// Takes those entries of a walk that the rules do not leave out.
    pub(crate) fn new(walk: disk::Walk, rules: Rules) -> Self {
        let mut walk = Self { sieve: Sieve::new(rules, &walk), walk, alike: Vec::new() };
        walk.entered();
        walk
    }

    /// Removes and returns the remarks about left out entries and unused lists of patterns since the last call.
    pub(crate) fn remarks(&mut self) -> Vec<Remark> {
        self.sieve.remarks()
    }

    /// The number of files that were left out because of their length.
    pub(crate) fn larger(&self) -> u64 {
        self.sieve.larger()
    }

    pub(crate) fn path(&self) -> &[u8] {
        self.walk.path().as_os_str().as_bytes()
    }

    /// Returns the handle of the current entry if the entry is a folder. Otherwise returns the handle of the folder
    /// that contains the entry.
    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.walk.folder()
    }

    /// Removes and returns the paths of names that clash with an earlier name of the same folder, for all folders that
    /// were entered since the last call.
    pub(crate) fn alike(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.alike)
    }

    fn entered(&mut self) {
        let folder = self.path();
        let path = |name: &[u8]| if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() };
        let alike = alikes(self.walk.names().map(OsStrExt::as_bytes)).into_iter().take(LONGEST_LIST);
        let alike: Vec<_> = alike.map(path).collect();
        self.alike.extend(alike);
    }

    fn failed(&self, action: Action, error: io::Error) -> Error {
        Error::Entry { action, path: shown(self.path()), error }
    }

    /// Returns the next entry, or the reason why it is not packed, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Step>, Error> {
        if !self.walk.advance() {
            return Ok(None);
        }
        if !self.sieve.takes_name(&self.walk) {
            return Ok(Some(Err(Missed::LeftOut)));
        }
        if self.walk.depth() > DEEPEST {
            return Err(Refusal::Deep { path: beginning(self.path()) }.into());
        }
        if self.path().len() > LONGEST {
            return Err(Refusal::Long { path: beginning(self.path()) }.into());
        }
        let step = self.walk.open().map_err(|error| self.failed(Action::Open, error))?;
        let (node, about) = match step {
            WalkStep::Node(node, about) => (node, about),
            WalkStep::Gone => return Ok(Some(Err(Missed::Gone))),
            WalkStep::Unreadable(error) => {
                return Ok(Some(Err(Missed::Unreadable(self.failed(Action::Read, error)))));
            }
        };
        if let disk::Node::Folder(Err(error)) = node {
            return Ok(Some(Err(Missed::Unreadable(self.failed(Action::Read, error)))));
        }
        if !self.sieve.takes(&mut self.walk, &about) {
            return Ok(Some(Err(Missed::LeftOut)));
        }
        let node = match node {
            disk::Node::Folder(_) => {
                self.entered();
                Node::Folder
            }
            disk::Node::File(file) => Node::File(file),
            disk::Node::Link(target) => Node::SymbolicLink(target.into_vec()),
            disk::Node::Special => return Ok(Some(Err(Missed::Special))),
        };
        Ok(Some(Ok((node, about))))
    }
}
