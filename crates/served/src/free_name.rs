//! Renaming to a name that must be free, for every server.
//!
//! If two clients or programs rename to one name at once, checking the name before a replacing rename would let
//! both succeed, and lose a file.

use std::io::{self, ErrorKind};
use std::path::{Component, Path};

use cap_std::fs::{Dir, Metadata, OpenOptions};

/// Rename a file or directory. Each name is a single path component.
///
/// # Errors `AlreadyExists` if the new name is taken, or a system error.
pub fn rename(
    (from_directory, from): (&Dir, &Path),
    (to_directory, to): (&Dir, &Path),
) -> io::Result<()> {
    if !is_one_name(from) || !is_one_name(to) {
        // The kernel would follow links in a longer path.
        return Err(ErrorKind::InvalidInput.into());
    }
    let (from, to) = ((from_directory, from), (to_directory, to));
    match lanlab_os::rename_to_free_name_at(from, to) {
        Err(error) if error.kind() == ErrorKind::Unsupported => in_steps(from, to),
        done => done,
    }
}

fn is_one_name(path: &Path) -> bool {
    let mut components = path.components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

/// Without that system call: claim the new name, which only one can, then remove the old one.
fn in_steps(from: (&Dir, &Path), to: (&Dir, &Path)) -> io::Result<()> {
    let found = from.0.symlink_metadata(from.1)?;
    if found.is_dir() {
        return by_claim(from, to, true);
    }
    match from.0.hard_link(from.1, to.0, to.1) {
        Ok(()) => give_up(from, to),
        // The file system refuses hard links: all, those of this user, or any above its limit.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::Unsupported | ErrorKind::TooManyLinks
            ) =>
        {
            by_claim(from, to, false)
        }
        Err(error) => Err(error),
    }
}

/// Remove the old name of a file that has both names. If the old name is gone or belongs to another
/// file, someone else renamed or removed the file first: then remove the new name.
fn give_up(from: (&Dir, &Path), to: (&Dir, &Path)) -> io::Result<()> {
    let look = |(directory, name): (&Dir, &Path)| directory.symlink_metadata(name);
    let is_same = match (look(from), look(to)) {
        (Ok(from), Ok(to)) => is_same_file(&from, &to),
        _ => false,
    };
    let removed =
        if is_same { from.0.remove_file(from.1) } else { Err(ErrorKind::NotFound.into()) };
    if removed.is_err() {
        // If this fails, the file has two names, and nothing is lost.
        let _ = to.0.remove_file(to.1);
    }
    removed
}

/// Claim the new name with an empty file or directory, which the rename then replaces.
fn by_claim(from: (&Dir, &Path), to: (&Dir, &Path), is_directory: bool) -> io::Result<()> {
    if is_directory {
        to.0.create_dir(to.1)?;
    } else {
        to.0.open_with(to.1, OpenOptions::new().write(true).create_new(true))?;
    }
    let renamed = from.0.rename(from.1, to.0, to.1);
    if renamed.is_err() {
        // The claim is empty, or was replaced by another entry, which stays.
        let _ = if is_directory { to.0.remove_dir(to.1) } else { to.0.remove_file(to.1) };
    }
    renamed
}

pub fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use cap_std::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Barrier;

    use cap_std::ambient_authority;

    use super::*;

    type Renames = fn((&Dir, &Path), (&Dir, &Path)) -> io::Result<()>;

    /// By one system call where available, by a hard link, and by a claim.
    const WAYS: [Renames; 3] = [rename, in_steps, |from, to| {
        let is_directory = from.0.symlink_metadata(from.1)?.is_dir();
        by_claim(from, to, is_directory)
    }];

    fn opened(path: &Path) -> Dir {
        Dir::open_ambient_dir(path, ambient_authority()).unwrap()
    }

    #[test]
    fn existing_files_are_never_replaced_and_failures_change_nothing() {
        for renames in WAYS {
            let root = tempfile::tempdir().unwrap();
            let directory = opened(root.path());
            let go = |from: &str, to: &str| {
                renames((&directory, from.as_ref()), (&directory, to.as_ref()))
            };
            let kind = |from: &str, to: &str| go(from, to).unwrap_err().kind();
            fs::write(root.path().join("a"), "a").unwrap();
            fs::write(root.path().join("b"), "b").unwrap();
            fs::create_dir(root.path().join("d")).unwrap();
            fs::create_dir(root.path().join("empty")).unwrap();
            fs::write(root.path().join("d/in"), "in").unwrap();
            for (from, to) in [("a", "b"), ("a", "empty"), ("d", "empty"), ("d", "a")] {
                assert_eq!(kind(from, to), ErrorKind::AlreadyExists, "{from} {to}");
            }
            assert_eq!(kind("none", "c"), ErrorKind::NotFound);
            go("a", "c").unwrap();
            go("d", "e").unwrap();
            let mut names: Vec<_> = fs::read_dir(root.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            assert_eq!(names, ["b", "c", "e", "empty"]);
            assert_eq!(fs::read(root.path().join("b")).unwrap(), b"b");
            assert_eq!(fs::read(root.path().join("c")).unwrap(), b"a");
            assert_eq!(fs::read(root.path().join("e/in")).unwrap(), b"in");
        }
    }

    #[test]
    fn a_directory_cannot_move_into_itself() {
        for renames in WAYS {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir(root.path().join("d")).unwrap();
            let (outer, inner) = (opened(root.path()), opened(&root.path().join("d")));
            renames((&outer, "d".as_ref()), (&inner, "x".as_ref())).unwrap_err();
            assert_eq!(fs::read_dir(root.path().join("d")).unwrap().count(), 0);
        }
    }

    #[test]
    fn exactly_one_of_several_clients_gets_a_name_or_file() {
        const THREADS: usize = 3;
        for (way, renames) in WAYS.into_iter().enumerate() {
            let root = tempfile::tempdir().unwrap();
            for round in 0..100 {
                let place = root.path().join(round.to_string());
                fs::create_dir(&place).unwrap();
                fs::write(place.join("shared"), "shared").unwrap();
                for thread in 0..THREADS {
                    fs::write(place.join(format!("own-{thread}")), thread.to_string()).unwrap();
                }
                let barrier = Barrier::new(THREADS);
                let race = |thread: usize| {
                    let directory = opened(&place);
                    let go = |from: &str, to: &str| {
                        renames((&directory, from.as_ref()), (&directory, to.as_ref())).is_ok()
                    };
                    barrier.wait();
                    let first = go(&format!("own-{thread}"), "new");
                    (first, go("shared", &format!("got-{thread}")))
                };
                let won = std::thread::scope(|scope| {
                    let race = &race;
                    let threads = [0, 1, 2].map(|thread| scope.spawn(move || race(thread)));
                    threads.map(|thread| thread.join().unwrap())
                });
                let winners = [won.map(|(new, _)| new), won.map(|(_, shared)| shared)]
                    .map(|won| won.iter().filter(|won| **won).count());
                assert_eq!(winners, [1, 1], "way {way}, round {round}: {won:?}");
                assert_eq!(fs::read_dir(&place).unwrap().count(), THREADS + 1, "none is lost");
                let winner = won.iter().position(|(new, _)| *new).unwrap();
                assert_eq!(fs::read_to_string(place.join("new")).unwrap(), winner.to_string());
            }
        }
    }

    #[test]
    fn names_with_separators_are_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("c"), "c").unwrap();
        fs::create_dir(root.path().join("d")).unwrap();
        let directory = opened(root.path());
        for name in ["d/x", "..", "/x", ""] {
            let refused = rename((&directory, "c".as_ref()), (&directory, name.as_ref()));
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput, "{name}");
        }
    }
}
