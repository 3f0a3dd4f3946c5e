//! Operations of one kind by one client, each timed, and an untimed check of their results.

use std::collections::{BTreeMap, BTreeSet};

use lanlab_files::{Access, BadPath, Class, Entry, Fault, ServicePath, Session};
use lanlab_units::{Clock, Instant};

use super::Tree;
use crate::Guard;
use crate::copy::CopyError;
use crate::measure::DistributionMeter;
use crate::messages::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    MakeDirectory,
    Create,
    Stat,
    List,
    /// Open and close. A service that moves whole files reads the empty file.
    Open,
    Rename,
    Remove,
    RemoveDirectory,
}

pub const OPERATIONS: [Operation; 8] = [
    Operation::MakeDirectory,
    Operation::Create,
    Operation::Stat,
    Operation::List,
    Operation::Open,
    Operation::Rename,
    Operation::Remove,
    Operation::RemoveDirectory,
];

impl Operation {
    pub fn name(self) -> &'static str {
        match self {
            Self::MakeDirectory => "make_directory",
            Self::Create => "create",
            Self::Stat => "stat",
            Self::List => "list",
            Self::Open => "open",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::RemoveDirectory => "remove_directory",
        }
    }

    /// The expected names after the phase.
    pub fn leaves(self, is_renamed: bool) -> Option<Stage> {
        match self {
            Self::Create => Some(Stage::Files { is_renamed: false }),
            Self::Rename => Some(Stage::Files { is_renamed }),
            Self::Remove => Some(Stage::NoFiles),
            Self::RemoveDirectory => Some(Stage::Nothing),
            Self::MakeDirectory | Self::Stat | Self::List | Self::Open => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Files { is_renamed: bool },
    NoFiles,
    Nothing,
}

#[derive(Debug)]
pub struct Done {
    pub began: Instant,
    pub ended: Instant,
    pub times: DistributionMeter,
    /// Why the service does not support the operation; nothing was timed.
    pub not_measured: Option<String>,
}

/// Do all operations of one kind.
///
/// # Errors
/// The service refuses one or gives a wrong answer. An unsupported operation is not an error.
pub async fn perform<S: Session, K: Clock>(
    session: &S,
    tree: &Tree,
    (operation, is_renamed): (Operation, bool),
    guard: &Guard<'_, K>,
) -> Result<Done, CopyError> {
    let began = guard.clock.now();
    let mut done =
        Done { began, ended: began, times: DistributionMeter::default(), not_measured: None };
    let of_directories = matches!(operation, Operation::MakeDirectory | Operation::RemoveDirectory);
    if of_directories && !session.has_directories() {
        done.not_measured = Some("the service has no directories".to_owned());
        return Ok(done);
    }
    let count = match operation {
        Operation::MakeDirectory | Operation::List | Operation::RemoveDirectory => {
            tree.directories().len() as u32
        }
        _ => tree.files,
    };
    for number in 0..count {
        guard.check()?;
        let asked = Asked::new(tree, operation, number, is_renamed)?;
        let called = guard.clock.now();
        let answered = call(session, operation, &asked).await;
        done.ended = guard.clock.now();
        match answered {
            Err(fault) if fault.class == Class::Unsupported && number == 0 => {
                done.not_measured = Some(fault.message);
                return Ok(done);
            }
            answered => answered?,
        }
        done.times.record(done.ended.signed_nanos_from(called));
        guard.progress.count(1, 0);
        guard.clock.yield_now(false).await;
    }
    Ok(done)
}

struct Asked {
    path: ServicePath,
    /// The new name, for a rename.
    to: Option<ServicePath>,
}

impl Asked {
    fn new(
        tree: &Tree,
        operation: Operation,
        number: u32,
        is_renamed: bool,
    ) -> Result<Self, CopyError> {
        let directories = tree.directories();
        let path = match operation {
            Operation::MakeDirectory | Operation::List => directories[number as usize].clone(),
            // Children before their parents.
            Operation::RemoveDirectory => {
                directories[directories.len() - 1 - number as usize].clone()
            }
            _ => tree.file(number, is_renamed).map_err(bad_name)?,
        };
        let is_rename = operation == Operation::Rename;
        let to = is_rename.then(|| tree.file(number, true)).transpose().map_err(bad_name)?;
        Ok(Self { path, to })
    }
}

fn bad_name(bad: BadPath) -> CopyError {
    Failure::new("copy.name", bad.message).into()
}

async fn call<S: Session>(session: &S, operation: Operation, asked: &Asked) -> Result<(), Fault> {
    let Asked { path, to } = asked;
    match operation {
        Operation::MakeDirectory => session.make_directory(path).await,
        Operation::RemoveDirectory => session.remove_directory(path).await,
        Operation::List => session.list(Some(path)).await.map(drop),
        Operation::Remove => session.remove(path).await,
        Operation::Rename => session.rename(path, to.as_ref().unwrap_or(path)).await,
        Operation::Stat => {
            let found = session.stat(path).await?;
            if found.is_directory || found.size_bytes != 0 {
                let message = format!("stat {path}: found {found:?}; written: an empty file");
                return Err(Fault::new(Class::Protocol, message));
            }
            Ok(())
        }
        Operation::Create => {
            let file = session.open(path, Access::Create { size_bytes: 0 }).await?;
            session.close(file).await
        }
        Operation::Open => {
            let file = session.open(path, Access::Read).await?;
            if session.capabilities().in_order && session.read_at(&file, 0, &mut [0]).await? != 0 {
                let message = format!("read {path}: found data; written: an empty file");
                return Err(Fault::new(Class::Length, message));
            }
            session.close(file).await
        }
    }
}

/// Compare the directories' listings with the expected names; returns the number of names compared. Some
/// servers change the case of names.
pub async fn verify<S: Session, K: Clock>(
    session: &S,
    tree: &Tree,
    stage: Stage,
    guard: &Guard<'_, K>,
) -> Result<u64, CopyError> {
    let top = tree.top();
    if stage == Stage::Nothing {
        return match session.list(Some(top)).await {
            Err(fault) if matches!(fault.class, Class::Missing | Class::Name) => Ok(1),
            // Some servers list a missing directory like an empty one.
            Ok(entries) if entries.is_empty() && !is_listed(session, top).await? => Ok(1),
            Ok(_) => Err(wrong(format!("`{top}` was removed and is still listed")).into()),
            Err(fault) => Err(fault.into()),
        };
    }
    let mut expected: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut compared = 0;
    let mut files = Vec::new();
    if let Stage::Files { is_renamed } = stage {
        for number in 0..tree.files {
            files.push(tree.file(number, is_renamed).map_err(bad_name)?);
        }
    }
    for file in &files {
        let (directory, name) = file.as_str().rsplit_once('/').unwrap_or_default();
        expected.entry(directory).or_default().insert(name.to_lowercase());
    }
    for directory in tree.directories() {
        guard.check()?;
        let listed = match session.list(Some(directory)).await {
            // A service without directories lists nothing if there are no files.
            Err(fault) if fault.class == Class::Missing && !session.has_directories() => Vec::new(),
            listed => listed?,
        };
        let expected = expected.remove(directory.as_str()).unwrap_or_default();
        compared += compare(directory, &listed, expected)?;
    }
    Ok(compared)
}

async fn is_listed<S: Session>(session: &S, path: &ServicePath) -> Result<bool, Fault> {
    let listed = session.list(path.parent().as_ref()).await?;
    Ok(listed.iter().any(|entry| entry.name.eq_ignore_ascii_case(path.name())))
}

fn compare(
    directory: &ServicePath,
    listed: &[Entry],
    mut expected: BTreeSet<String>,
) -> Result<u64, Failure> {
    let count = expected.len() as u64;
    for entry in listed.iter().filter(|entry| !entry.is_directory) {
        if !expected.remove(&entry.name.to_lowercase()) {
            let name = entry.name.escape_debug();
            return Err(wrong(format!("`{directory}/{name}` is listed and must not be there")));
        }
    }
    match expected.first() {
        None => Ok(count.max(1)),
        Some(name) => Err(wrong(format!("`{directory}/{name}` was created and is not listed"))),
    }
}

fn wrong(message: String) -> Failure {
    Failure::new("metadata.wrong", message)
        .hint("the server lost or kept a name; discard the results of this service")
}
