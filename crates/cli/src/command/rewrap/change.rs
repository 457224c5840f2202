//! The change that the command line requests, and the resulting plan for each file.

use super::RewrapArgs;
use super::known::{Known, Recognized, all};
use crate::key::home::Home;
use crate::key::identity::Identities;
use crate::key::mode::{ModeArg, mode_name};
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::key::recipient::{NamedRecipients, only_in_age};
use crate::tell::failure::Failure;
use deadpan_seal::{Cost, Format, Mode, Opened, Passphrase, PublicKey, Recipient, Stanza};

/// The word that stands for the passphrase among the recipients to remove.
const PASSPHRASE: &str = "passphrase";

pub struct Change {
    add: Vec<(String, Recipient)>,
    remove: Vec<(String, PublicKey)>,
    removes_passphrase: bool,
    /// The new list of recipients, if this list replaces all recipients.
    to: Option<Vec<(String, Recipient)>>,
    adds_passphrase: bool,
    /// The source of the new passphrase. The user is asked for the new passphrase when the first file needs the
    /// passphrase.
    new: Passphrases,
    /// Whether the new passphrase and the old passphrase come from different sources.
    new_has_source: bool,
    /// Whether a file may have classical recipients together with other recipients.
    mixed: bool,
    force: bool,
    known: Vec<Known>,
    /// The number of public keys among the identities when the program last made the list of known people.
    known_for: Option<usize>,
}

/// The planned change of one file.
pub struct RecipientPlan {
    /// The numbers of the old recipients that stay recipients of the file.
    pub kept: Vec<usize>,
    pub added: Vec<Recipient>,
    pub added_names: Vec<String>,
    pub removed_names: Vec<String>,
    /// The names of the recipients before the change.
    pub before: Vec<Option<String>>,
    pub notes: Vec<String>,
    pub mixed: bool,
}

impl Change {
    /// Finds all recipients on the command line. Asks for the passphrase of a key if reading the key's public part
    /// needs the passphrase.
    pub fn from_args(args: &RewrapArgs, home: &Home, passphrases: &Passphrases) -> Result<Self, Failure> {
        let is_passphrase = |who: &&String| *who == PASSPHRASE;
        if args.remove.iter().any(|who| is_passphrase(&who)) && home.names().iter().any(|name| name == PASSPHRASE) {
            let hint = "rename the key, or name the file of its public key";
            return Err(Failure::usage(format!("{PASSPHRASE} is also the name of one of your keys"), hint));
        }
        let people: Vec<_> = args.remove.iter().filter(|who| !is_passphrase(who)).cloned().collect();
        let add = NamedRecipients::named(&args.recipients, &args.recipients_file, home)?;
        let remove = NamedRecipients::named(&people, &[], home)?;
        let to = NamedRecipients::named(&args.to, &[], home)?;
        let new = match &args.new_passphrase_file {
            Some(file) => Passphrases::new(&PassphraseArgs::of_file(file.clone())),
            None => Passphrases::new(&args.source),
        };
        let change = Self {
            add: add.recipients(passphrases)?,
            remove: remove.keys(passphrases)?,
            removes_passphrase: people.len() < args.remove.len(),
            to: if args.to.is_empty() { None } else { Some(to.recipients(passphrases)?) },
            adds_passphrase: args.passphrase,
            new,
            new_has_source: args.new_passphrase_file.is_some(),
            mixed: args.mode == Some(ModeArg::Ecc),
            force: args.force,
            known: Vec::new(),
            known_for: None,
        };
        change.refuse_other_modes(args.mode)?;
        Ok(change)
    }

    /// Refuses added recipients whose mode differs from the mode given with `--mode`. With `ecc`, all modes may be
    /// mixed.
    fn refuse_other_modes(&self, mode: Option<ModeArg>) -> Result<(), Failure> {
        let Some(wanted) = mode.map(Mode::from).filter(|mode| *mode != Mode::Ecc) else { return Ok(()) };
        let all = self.add.iter().chain(self.to.iter().flatten());
        let mut others = all.filter(|(_, it)| key_of(it).is_none_or(|key| key.kem().mode() != wanted));
        let Some((name, recipient)) = others.next() else { return Ok(()) };
        let wanted = mode_name(wanted);
        let message = match recipient {
            Recipient::Key(key) => {
                format!("{name} is {} ({}), not {wanted}", mode_name(key.kem().mode()), key.kem().name())
            }
            Recipient::Ssh(_) => format!("{name} is a key of SSH, which is {}, not {wanted}", mode_name(Mode::Ecc)),
            _ => format!("{name} is a recipient of a plugin, whose mode is not known before it is sealed to"),
        };
        Err(Failure::usage(message, format!("leave out --mode, or name recipients whose mode is {wanted}")))
    }

    /// Determines the changes to one file.
    pub fn plan(
        &mut self,
        name: &str,
        opened: &Opened,
        home: &Home,
        identities: &Identities,
    ) -> Result<RecipientPlan, Failure> {
        // If a key was unlocked since the list of known people was made, the list is made again, because it then
        // includes this key.
        let keys = identities.public_keys().len();
        if self.known_for != Some(keys) {
            let new = self.add.iter().chain(self.to.iter().flatten());
            let new = new.filter_map(|(name, recipient)| Some((name.clone(), key_of(recipient)?.clone())));
            let named: Vec<_> = new.chain(self.remove.iter().cloned()).collect();
            self.known = all(home, identities, &named)?;
            self.known_for = Some(keys);
        }
        self.plan_with(name, opened, &self.known, identities)
    }

    fn plan_with(
        &self,
        name: &str,
        opened: &Opened,
        known: &[Known],
        identities: &Identities,
    ) -> Result<RecipientPlan, Failure> {
        let found = Recognized::among(opened, known, identities).map_err(|error| Failure::seal(name, error))?;
        let stanzas = opened.stanzas();
        self.refuse_thresholds(name, &stanzas)?;
        let new = self.to.as_ref().unwrap_or(&self.add);
        if let Some((who, _)) = new.iter().find(|(_, it)| matches!(it, Recipient::Ssh(_)))
            && opened.format() != Format::Age
        {
            return Err(only_in_age(who).about(name));
        }
        let is_of = |number: usize, key: &PublicKey| found.owner(number, known).is_some_and(|owner| owner.key == *key);
        let mut notes = Vec::new();
        let (kept, wanted): (Vec<usize>, _) = match &self.to {
            Some(to) => {
                let stays = |number: &usize| to.iter().filter_map(|(_, it)| key_of(it)).any(|key| is_of(*number, key));
                ((0..stanzas.len()).filter(stays).collect(), to)
            }
            None => {
                for (who, key) in &self.remove {
                    notes.extend(self.missing(name, who, key, &stanzas, &found, known)?);
                }
                if self.removes_passphrase && !stanzas.iter().any(Stanza::is_passphrase) {
                    notes.push(format!("{name} has no passphrase"));
                }
                let goes = |number: &usize| {
                    self.remove.iter().any(|(_, key)| is_of(*number, key))
                        || self.removes_passphrase && stanzas[*number].is_passphrase()
                };
                ((0..stanzas.len()).filter(|number| !goes(number)).collect(), &self.add)
            }
        };
        let names: Vec<_> =
            (0..stanzas.len()).map(|number| label(stanzas[number], found.owner(number, known))).collect();
        let stays = |key: &PublicKey| found.with(key, known).any(|number| kept.contains(&number));
        let new: Vec<_> = wanted.iter().filter(|(_, recipient)| !key_of(recipient).is_some_and(stays)).collect();
        let mut plan = RecipientPlan {
            added: new.iter().map(|(_, recipient)| recipient.clone()).collect(),
            added_names: new.iter().map(|(who, _)| who.clone()).collect(),
            removed_names: (0..stanzas.len())
                .filter(|number| !kept.contains(number))
                .map(|number| names[number].clone().unwrap_or_else(|| unknown(stanzas[number])))
                .collect(),
            kept,
            before: names,
            notes,
            mixed: self.mixed,
        };
        let knows_passphrase = self.add_passphrase(name, &mut plan, &stanzas)?;
        self.check_rest(name, &plan, &stanzas, &found, known, knows_passphrase)?;
        Ok(plan)
    }

    /// Refuses to change the recipients of a file that several keys open together, because each new recipient could
    /// open the file alone.
    fn refuse_thresholds(&self, name: &str, stanzas: &[Stanza]) -> Result<(), Failure> {
        let changes = self.to.is_some() || self.adds_passphrase || self.removes_passphrase;
        let changes = changes || !self.add.is_empty() || !self.remove.is_empty();
        let share = stanzas.iter().find_map(|stanza| match stanza {
            Stanza::Share { needed, of, .. } => Some((needed, of)),
            _ => None,
        });
        let Some((needed, of)) = share.filter(|_| changes && !(self.to.is_some() && self.force)) else {
            return Ok(());
        };
        let message = format!("any {needed} of {of} keys open {name} together, and these cannot be changed one by one");
        let hint =
            "open it and seal it again with --any; or let each of some recipients open it alone: --to WHO --force";
        Err(Failure::usage(message, hint))
    }

    /// Returns a note if a recipient to remove is certainly not among the file's recipients. Returns an error if the
    /// recipient to remove may be one of the file's recipients but cannot be recognized.
    fn missing(
        &self,
        name: &str,
        who: &str,
        key: &PublicKey,
        stanzas: &[Stanza],
        found: &Recognized,
        known: &[Known],
    ) -> Result<Option<String>, Failure> {
        if found.with(key, known).next().is_some() {
            return Ok(None);
        }
        let unknown = (0..stanzas.len())
            .filter(|number| stanzas[*number] == Stanza::Key(key.kem()) && found.owner(*number, known).is_none())
            .count();
        if unknown == 0 {
            return Ok(Some(format!("{who} is not a recipient of {name}")));
        }
        let message = format!(
            "{name}: {who} may be one of {} with {} keys that cannot be recognized",
            crate::tell::shown::count(unknown as u64, "recipient", "recipients"),
            key.kem().name()
        );
        let hint = "age files, older versions and other programs do not show whose recipients they have; name all who \
            shall open the file with --to";
        Err(Failure::usage(message, hint))
    }

    /// Adds the new passphrase, if the user wants to add a passphrase. Returns whether the user knows a passphrase of
    /// the changed file.
    fn add_passphrase(&self, name: &str, plan: &mut RecipientPlan, stanzas: &[Stanza]) -> Result<bool, Failure> {
        let kept = plan.kept.iter().any(|number| stanzas[*number].is_passphrase());
        if !self.adds_passphrase {
            return Ok(kept);
        }
        if kept {
            let message = format!("{name} has a passphrase already, and a file can have one");
            return Err(Failure::usage(message, "replace it with: --remove passphrase -p"));
        }
        let replaces = stanzas.iter().any(Stanza::is_passphrase);
        if replaces && !self.new_has_source && self.new.given()?.is_some() {
            let message = format!("the new passphrase of {name} would be the old one");
            return Err(Failure::usage(message, "give the new one with --new-passphrase-file"));
        }
        let passphrase: Passphrase = self.new.new_one("the sealed files", "name a recipient with -r instead")?;
        plan.added.push(Recipient::Passphrase(passphrase, Cost::default()));
        plan.added_names.push(PASSPHRASE.into());
        Ok(true)
    }

    /// Refuses a change after which nobody can open the file. Without `--force`, also refuses a change after which none
    /// of the user's own keys opens the file.
    fn check_rest(
        &self,
        name: &str,
        plan: &RecipientPlan,
        stanzas: &[Stanza],
        found: &Recognized,
        known: &[Known],
        knows_passphrase: bool,
    ) -> Result<(), Failure> {
        if plan.kept.is_empty() && plan.added.is_empty() {
            let message = format!("nobody would be able to open {name} any more");
            return Err(Failure::usage(message, "keep a recipient, or add one with -r"));
        }
        if self.force || plan.removed_names.is_empty() {
            return Ok(());
        }
        let is_own = |number: &usize| found.owner(*number, known).is_some_and(|owner| owner.own);
        let adds_own = plan.added.iter().any(|recipient| match recipient {
            Recipient::Key(key) => known.iter().any(|it| it.own && it.key == *key),
            _ => false,
        });
        // If none of the user's own keys is a recipient, either the passphrase or a recipient that cannot be recognized
        // opened the file.
        let had_own = (0..stanzas.len()).any(|number| is_own(&number));
        let keeps_unknown = plan.kept.iter().any(|number| found.owner(*number, known).is_none());
        if plan.kept.iter().any(is_own) || adds_own || knows_passphrase && (!had_own || self.adds_passphrase) {
            return Ok(());
        }
        if !had_own && keeps_unknown {
            return Ok(());
        }
        let message = format!("after this, none of your keys would open {name}");
        Err(Failure::usage(message, "add one of your keys, or confirm the change with --force"))
    }
}

fn key_of(recipient: &Recipient) -> Option<&PublicKey> {
    if let Recipient::Key(key) = recipient { Some(key) } else { None }
}

fn label(stanza: Stanza, owner: Option<&Known>) -> Option<String> {
    if stanza.is_passphrase() { Some(PASSPHRASE.into()) } else { owner.map(|owner| owner.name.clone()) }
}

pub fn unknown(stanza: Stanza) -> String {
    format!("an unknown {stanza}")
}
