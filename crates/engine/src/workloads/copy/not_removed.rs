//! Parts of a trial that could not be removed, and the server's error.

use lanlab_files::{Class, Fault, ServicePath, Session};

use crate::messages::LeftBehind;

const MOST_NAMES: usize = 20;

#[derive(Debug, Default)]
pub struct NotRemoved {
    names: Vec<String>,
    count: u64,
    refusal: Option<String>,
    not_listed: Option<String>,
}

impl NotRemoved {
    /// Record a directory without a valid listing, whose contents were removed by name.
    pub fn not_listed(&mut self, fault: Option<&Fault>) {
        self.not_listed = fault.map(|fault| fault.message.clone());
    }

    pub fn why_not_listed(&self) -> Option<String> {
        self.not_listed.clone()
    }

    pub fn refused(&mut self, path: &ServicePath, fault: &Fault) {
        self.refusal.get_or_insert_with(|| fault.message.clone());
        self.kept(path);
    }

    pub fn kept(&mut self, path: &impl ToString) {
        self.count += 1;
        if self.names.len() < MOST_NAMES {
            self.names.push(path.to_string());
        }
    }

    pub fn stays(&mut self, directory: &ServicePath, is_empty: bool, fault: &Fault) {
        if is_refused_itself(is_empty, fault.class) {
            self.refused(directory, fault);
        } else {
            self.kept(directory);
        }
    }

    pub fn has_refusal(&self) -> bool {
        self.refusal.is_some()
    }

    pub fn is_none(&self) -> bool {
        self.count == 0
    }

    /// What is left, for the result; `None` if nothing is.
    pub fn described(self) -> Option<LeftBehind> {
        let Self { names, count, refusal, .. } = self;
        (count > 0).then_some(LeftBehind { names, count, refusal })
    }
}

/// Whether the server refuses to remove the directory itself. Unlisted contents of an apparently empty one are not
/// ours.
pub fn is_refused_itself(is_empty: bool, class: Class) -> bool {
    is_empty && class != Class::Exists
}

/// Remove a directory; returns the server's error if it still exists.
pub async fn removed_directory(
    session: &impl Session,
    path: &ServicePath,
) -> Result<Option<Fault>, Fault> {
    match session.remove_directory(path).await {
        Ok(()) => Ok(None),
        Err(fault) if fault.class == Class::Missing => Ok(None),
        Err(fault) if fault.class.is_passing() => Err(fault),
        Err(fault) => Ok(Some(fault)),
    }
}

async fn is_listed(session: &impl Session, directory: &ServicePath) -> Result<bool, Fault> {
    match session.list(None).await {
        Err(fault) if fault.class.is_passing() => Err(fault),
        // Without permission to list, assume that it exists.
        Err(_) => Ok(true),
        Ok(entries) => Ok(entries.iter().any(|entry| entry.name == directory.name())),
    }
}

/// Remove a trial's directory that contains at most its mark.
pub async fn remove_working(
    session: &impl Session,
    working: &ServicePath,
    mark: Option<&ServicePath>,
    not_removed: &mut NotRemoved,
) -> Result<(), Fault> {
    let mut said = None;
    if let Some(mark) = mark {
        match session.remove(mark).await {
            Err(fault) if fault.class.is_passing() => return Err(fault),
            Err(fault) => said = Some((mark, fault)),
            Ok(()) => {}
        }
    }
    let Some(fault) = removed_directory(session, working).await? else { return Ok(()) };
    let entries = match session.list(Some(working)).await {
        Err(listing) if listing.class.is_passing() => return Err(listing),
        // A read-only server refuses before it checks whether the directory exists.
        Err(listing) if listing.class == Class::Missing => return Ok(()),
        listed => listed.unwrap_or_default(),
    };
    if entries.is_empty() && !is_listed(session, working).await? {
        return Ok(());
    }
    if let Some((mark, fault)) = said
        && entries.iter().any(|entry| entry.name == mark.name())
    {
        not_removed.refused(mark, &fault);
        not_removed.kept(working);
    } else {
        not_removed.stays(working, entries.is_empty(), &fault);
    }
    Ok(())
}
