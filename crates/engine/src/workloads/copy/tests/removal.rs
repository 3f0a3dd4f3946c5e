//! Removal of a trial at a service that refuses, and reports of what is left.

use std::time::Duration;

use lanlab_files::{Fault, ServiceKind, ServicePath};
use lanlab_workloads::copy::CopyError;

use super::scripted::{Answer, Scripted};
use super::*;
use crate::messages::{CopyEmptied, LeftBehind};
use crate::output::Output;
use crate::running::Running;
use crate::workloads::copy::removal::{Written, remove_written};
use crate::workloads::copy::trial_directory::{MARK_LINE, make_marked, read_mark, remove};
use Answer::Fault as Says;

const W: &str = "lanlab-test-1";
const FILES: &str = "lanlab-test-1/files";
const A: &str = "lanlab-test-1/files/a";
const B: &str = "lanlab-test-1/files/b";
const MARK: &str = "lanlab-test-1/lanlab-mark";
const REMOVE_A: &str = "remove lanlab-test-1/files/a";
const REMOVE_FILES: &str = "remove lanlab-test-1/files";
const ALWAYS: usize = usize::MAX;

fn at(text: &str) -> ServicePath {
    ServicePath::new(text).unwrap()
}

fn done<T>(work: impl Future<Output = T>) -> T {
    let within = async { tokio::time::timeout(Duration::from_secs(20), work).await };
    runtime().unwrap().block_on(within).expect("it goes on for ever")
}

fn served(others: &[&str]) -> Scripted {
    let mut files: Vec<(&str, &[u8])> = vec![(A, b"1"), (B, b"2")];
    files.extend(others.iter().map(|path| (*path, b"".as_slice())));
    Scripted::with(&[W, FILES], &files)
}

fn emptied(session: &Scripted) -> (Result<u64, CopyError>, Option<LeftBehind>) {
    let written = Written { files: vec![at("a"), at("b")], directories: Vec::new() };
    let mut left = NotRemoved::default();
    let spec = changed(&json!({}));
    let place = (spec.service.service, spec.working_name.as_str());
    let removed = done(remove_written(&session, place, &written, &mut left));
    (removed, left.described())
}

fn names(left: Option<LeftBehind>) -> (Vec<String>, Option<String>) {
    let left = left.expect("something is left");
    (left.names, left.refusal)
}

#[test]
fn files_of_the_trial_are_removed_in_one_pass() {
    let session = served(&[]);
    let (removed, left) = emptied(&session);
    assert_eq!((removed.unwrap(), left), (2, None));
    assert_eq!(session.left(), [W]);
    assert_eq!(session.called(REMOVE_A), 1);
}

#[test]
fn a_connection_that_fails_ends_the_removal() {
    for call in [REMOVE_A, REMOVE_FILES] {
        let session = served(&[]).answers(call, Says(Class::Reset), 1);
        let (removed, left) = emptied(&session);
        let Err(CopyError::Service(fault)) = removed else { panic!("{call}: {removed:?}") };
        assert_eq!((fault.class, left), (Class::Reset, None));
    }
}

#[test]
fn temporary_refusals_are_retried() {
    // The server still holds the file: it refuses once, or confirms once without removing it.
    for answer in [Says(Class::Denied), Answer::Nothing] {
        let session = served(&[]).answers(REMOVE_A, answer, 1);
        let (removed, left) = emptied(&session);
        assert_eq!((removed.unwrap(), left), (2, None), "{answer:?}");
        assert_eq!((session.left(), session.called(REMOVE_A)), (vec![W.to_owned()], 2));
    }
    // An empty directory that the server holds for a moment.
    let session = served(&[]).answers(REMOVE_FILES, Says(Class::Denied), 1);
    let (removed, left) = emptied(&session);
    assert_eq!((removed.unwrap(), left), (2, None));
    assert_eq!(session.called(REMOVE_FILES), 2);
}

#[test]
fn a_permanently_locked_file_is_an_error() {
    let session = served(&[]).answers(REMOVE_A, Answer::Nothing, ALWAYS);
    let (removed, _) = emptied(&session);
    let Err(CopyError::Own(failure)) = removed else { panic!("{removed:?}") };
    assert_eq!(failure.code, "copy.held");
    assert!(failure.message.contains(A) && session.called(REMOVE_A) > 5);
}

#[test]
fn a_permanently_refused_file_is_named_with_the_server_error() {
    let session = served(&[]).answers(REMOVE_A, Says(Class::Denied), ALWAYS);
    let (removed, left) = emptied(&session);
    assert_eq!(removed.unwrap(), 1);
    let said = format!("{REMOVE_A}: Denied");
    assert_eq!(names(left), (vec![A.to_owned(), FILES.to_owned()], Some(said)));
    // The server may refuse a file that its listing does not show, and remove the directory.
    let session = Scripted::with(&[W, FILES], &[]).answers(REMOVE_A, Says(Class::Denied), ALWAYS);
    let (removed, left) = emptied(&session);
    assert_eq!(removed.unwrap(), 0);
    assert_eq!(names(left).0, [A]);
}

#[test]
fn foreign_files_stay_without_retries() {
    let other = "lanlab-test-1/files/other";
    let session = served(&[other]);
    let (removed, left) = emptied(&session);
    assert_eq!(removed.unwrap(), 2);
    assert_eq!(names(left), (vec![FILES.to_owned()], None));
    assert_eq!(session.called(REMOVE_FILES), 1);
    assert_eq!(session.left(), [W, FILES, other]);
    // Foreign files do not count as a refusal, even if the server refuses to remove the directory.
    let session = served(&[other]).answers(REMOVE_FILES, Says(Class::Denied), ALWAYS);
    assert_eq!(names(emptied(&session).1), (vec![FILES.to_owned()], None));
}

#[test]
fn a_directory_that_stays_is_refused_or_holds_unlisted_files() {
    let said = format!("{REMOVE_FILES}: Denied");
    for (class, refusal) in [(Class::Denied, Some(said)), (Class::Exists, None)] {
        let session = served(&[]).answers(REMOVE_FILES, Says(class), ALWAYS);
        let (removed, left) = emptied(&session);
        assert_eq!(removed.unwrap(), 2);
        assert_eq!(names(left), (vec![FILES.to_owned()], refusal));
        assert!(session.called(REMOVE_FILES) > 5);
    }
}

#[test]
fn missing_directories_count_as_removed_and_unlistable_ones_are_emptied_by_name() {
    for directories in [&[W][..], &[]] {
        let session = Scripted::with(directories, &[]);
        let (removed, left) = emptied(&session);
        assert_eq!((removed.unwrap(), left), (0, None));
    }
    let session = served(&[]).answers("list lanlab-test-1/files", Says(Class::Denied), 1);
    let (removed, left) = emptied(&session);
    assert_eq!((removed.unwrap(), left), (2, None));
    assert_eq!(session.left(), [W]);
}

#[test]
fn directory_removal_has_four_outcomes() {
    let removed = |session: &Scripted| done(removed_directory(&session, &at(FILES)));
    let session = Scripted::with(&[W, FILES], &[]);
    assert_eq!((removed(&session), removed(&session)), (Ok(None), Ok(None)));
    let class = |class| {
        let session = Scripted::with(&[W, FILES], &[]).answers(REMOVE_FILES, Says(class), 1);
        removed(&session).map(|fault: Option<Fault>| fault.unwrap().class).map_err(|it| it.class)
    };
    assert_eq!(class(Class::Denied), Ok(Class::Denied));
    assert_eq!(class(Class::TimedOut), Err(Class::TimedOut));
}

/// What is left of a trial's directory that contains its mark and `others`.
fn working(others: &[&str], scripts: &[(&str, Class)]) -> Result<Option<LeftBehind>, Class> {
    let mut files: Vec<(&str, &[u8])> = vec![(MARK, b"")];
    files.extend(others.iter().map(|path| (*path, b"".as_slice())));
    let mut session = Scripted::with(&[W], &files);
    for (call, class) in scripts {
        session = session.answers(call, Says(*class), 1);
    }
    let mut left = NotRemoved::default();
    let removed = done(remove_working(&&session, &at(W), Some(&at(MARK)), &mut left));
    removed.map(|()| left.described()).map_err(|fault| fault.class)
}

#[test]
fn trial_directories_are_removed_with_their_mark_or_named() {
    let (mark, directory) = (format!("remove {MARK}"), format!("remove {W}"));
    let list = format!("list {W}");
    assert_eq!(working(&[], &[]), Ok(None));
    // The server refuses to remove the mark.
    let left = working(&[], &[(&mark, Class::Denied)]).unwrap();
    assert_eq!(names(left), (vec![MARK.into(), W.into()], Some(format!("{mark}: Denied"))));
    // Only a foreign file is left, whether or not the server refuses to remove the directory.
    let other = "lanlab-test-1/other";
    for class in [Class::Exists, Class::Denied] {
        let left = working(&[other], &[(&directory, class)]).unwrap();
        assert_eq!(names(left), (vec![W.to_owned()], None), "{class:?}");
    }
    // The listing shows no entries.
    let left = working(&[], &[(&directory, Class::Denied)]).unwrap();
    assert_eq!(names(left), (vec![W.into()], Some(format!("{directory}: Denied"))));
    let left = working(&[], &[(&directory, Class::Exists)]).unwrap();
    assert_eq!(names(left), (vec![W.to_owned()], None));
    // A temporary error ends the removal; a refused listing shows nothing.
    for call in [&mark, &directory] {
        assert_eq!(working(&[], &[(call, Class::Reset)]), Err(Class::Reset));
    }
    let scripts = [(directory.as_str(), Class::Denied), (list.as_str(), Class::Reset)];
    assert_eq!(working(&[], &scripts), Err(Class::Reset));
    let scripts = [(directory.as_str(), Class::Denied), (list.as_str(), Class::Denied)];
    assert_eq!(names(working(&[other], &scripts).unwrap()).1, Some(format!("{directory}: Denied")));
}

/// A read-only server also refuses to remove missing files.
#[test]
fn a_directory_never_made_is_not_reported_as_left() {
    for others in [&[][..], &["other"]] {
        let session = Scripted::with(others, &[]);
        let session = session.answers(&format!("remove {W}"), Says(Class::Denied), ALWAYS);
        let mut left = NotRemoved::default();
        let removed = done(remove_working(&&session, &at(W), None, &mut left));
        assert_eq!((removed, left.described()), (Ok(()), None), "{others:?}");
    }
}

#[test]
fn a_refused_mark_that_is_gone_is_not_reported() {
    let session = Scripted::with(&[W], &[("lanlab-test-1/other", b"")]);
    let mut left = NotRemoved::default();
    let removed = done(remove_working(&&session, &at(W), Some(&at(MARK)), &mut left));
    assert_eq!((removed, names(left.described())), (Ok(()), (vec![W.to_owned()], None)));
}

#[test]
fn marks_written_in_pieces_read_back_unchanged() {
    let mark: Vec<u8> = (0..150_000).map(|number| b'a' + (number % 23) as u8).collect();
    let session = Scripted::default();
    let running = Running::new(1, Output::new(std::io::sink()));
    done(make_marked(&&session, W, &mark, &running)).unwrap();
    let expected = [
        format!("make {W}"),
        format!("create {MARK} 150000"),
        format!("write {MARK} 0"),
        format!("write {MARK} 65536"),
        format!("write {MARK} 131072"),
        format!("close {MARK}"),
    ];
    assert_eq!(session.calls.take(), expected);
    assert_eq!(done(read_mark(&&session, &at(MARK))).unwrap().as_bytes(), mark);
}

#[test]
fn reading_a_mark_is_bounded() {
    let read = |bytes: usize| {
        let session = Scripted::with(&[W], &[(MARK, &vec![b'x'; bytes])]);
        done(read_mark(&&session, &at(MARK))).map(|text| text.len())
    };
    assert_eq!(read(16 << 20).unwrap(), 16 << 20);
    let Err(CopyError::Own(failure)) = read((16 << 20) + 1) else { panic!("it was read") };
    assert_eq!(failure.code, "copy.not_ours");
    assert!(trial_directory::check_mark(16 << 20).is_ok());
    let failure = trial_directory::check_mark((16 << 20) + 1).unwrap_err();
    assert_eq!(failure.code, "copy.too_many");
}

fn trial() -> Scripted {
    let mark = format!("{MARK_LINE}{TOKEN}\n");
    Scripted::with(
        &[W, FILES],
        &[
            (&format!("{FILES}/{}", crate::workloads::dataset::file_name(0)), b"0"),
            (&format!("{FILES}/{}", crate::workloads::dataset::file_name(1)), b"1"),
            (MARK, mark.as_bytes()),
        ],
    )
}

fn removed(session: &Scripted) -> Result<CopyEmptied, CopyError> {
    done(remove(&changed(&json!({})), session))
}

#[test]
fn webdav_files_are_removed_by_name_only_if_lanlab_uses_no_directories() {
    for is_flat in [true, false] {
        let listing = format!("list {W}");
        let mut session = served(&[]).answers(&listing, Says(Class::Unsupported), ALWAYS);
        session.is_flat = is_flat;
        let written = Written { files: vec![at("a"), at("b")], directories: Vec::new() };
        let mut left = NotRemoved::default();
        let place = (ServiceKind::Webdav, W);
        let removed = done(remove_written(&&session, place, &written, &mut left)).unwrap();
        assert_eq!((removed, left.is_none()), if is_flat { (2, true) } else { (0, false) });
        assert_eq!(left.why_not_listed(), None);
    }
}

#[test]
fn a_trial_is_removed_by_its_mark() {
    let session = trial();
    let CopyEmptied { removed_files, is_gone, left, .. } = removed(&session).unwrap();
    assert_eq!((removed_files, is_gone, left), (2, true, None));
    assert!(session.left().is_empty());
    // The trial has no files, and maybe no directory.
    for directories in [&[W][..], &[]] {
        let session = Scripted::with(directories, &[]);
        let CopyEmptied { removed_files, is_gone, left, .. } = removed(&session).unwrap();
        assert_eq!((removed_files, is_gone, left), (0, true, None));
        assert!(session.left().is_empty());
    }
}

#[test]
fn files_are_removed_by_name_if_the_listing_is_malformed() {
    for (call, class) in [
        (format!("list {W}"), Class::Protocol),
        (format!("list {FILES}"), Class::Denied),
        (format!("list {FILES}"), Class::Unsupported),
    ] {
        let session = trial().answers(&call, Says(class), ALWAYS);
        let removal = removed(&session).unwrap();
        assert_eq!(
            (removal.removed_files, removal.is_gone, removal.left),
            (2, true, None),
            "{call}"
        );
        assert_eq!(removal.not_listed, Some(format!("{call}: {class:?}")));
        assert!(session.left().is_empty(), "{call}: {:?}", session.left());
    }
    // A failed connection is an error.
    let session = trial().answers(&format!("list {W}"), Says(Class::Reset), ALWAYS);
    let Err(CopyError::Service(fault)) = removed(&session) else { panic!("it was removed") };
    assert_eq!((fault.class, session.left().len()), (Class::Reset, 5));
}

#[test]
fn services_with_one_delete_command_remove_nothing_unseen() {
    let session = trial().answers(&format!("list {FILES}"), Says(Class::Protocol), ALWAYS);
    let spec = changed(&json!({"service": {"service": "webdav", "server_name": "h"}}));
    let removal = done(remove(&spec, &session)).unwrap();
    assert_eq!((removal.removed_files, removal.is_gone), (0, false));
    assert_eq!(removal.left.unwrap().refusal, Some(format!("list {FILES}: Protocol")));
    assert_eq!(session.left().len(), 5);
}

#[test]
fn a_mark_that_cannot_be_read_removes_nothing() {
    let session = trial().answers("open lanlab-test-1/lanlab-mark", Says(Class::Denied), 1);
    let Err(CopyError::Service(fault)) = removed(&session) else { panic!("it was removed") };
    assert_eq!((fault.class, session.left().len()), (Class::Denied, 5));
}

#[test]
fn a_mark_is_kept_with_refused_files_but_not_with_foreign_ones() {
    let first = format!("{FILES}/{}", crate::workloads::dataset::file_name(0));
    let session = trial().answers(&format!("remove {first}"), Says(Class::Denied), ALWAYS);
    let removal = removed(&session).unwrap();
    assert_eq!((removal.removed_files, removal.is_gone), (1, false));
    assert_eq!(names(removal.left).0, [first.as_str(), FILES, MARK, W]);
    assert_eq!(session.left(), [W, FILES, first.as_str(), MARK]);
    let session = trial();
    session.entries.borrow_mut().insert(format!("{FILES}/other"), Some(Vec::new()));
    let removal = removed(&session).unwrap();
    assert_eq!(names(removal.left), (vec![FILES.to_owned(), W.to_owned()], None));
    assert!(!session.left().contains(&MARK.to_owned()));
}
