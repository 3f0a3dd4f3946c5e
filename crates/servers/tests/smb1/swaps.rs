//! A program that puts links, FIFOs and directories in the place of a file while clients use it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lanlab_files::ServiceKind::Smb1;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{close, command, open, path, query_information, read, search, write};

use super::hostile::Raw;
use crate::contested::repeats;
use crate::multiplexed::{run, run_in_threads, served};

/// What is outside, and is in no answer.
const SECRET: &[u8] = b"outside secret";

/// No other client waits longer.
const PATIENCE: Duration = Duration::from_secs(1);

impl Raw {
    /// An answer, which holds nothing from outside.
    fn confined(&mut self, command: u8, emit: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let answer = self.ask(command, emit).expect("an answer");
        assert!(!answer.windows(SECRET.len()).any(|octets| octets == SECRET), "{command:#x}");
        answer
    }

    fn uses(&mut self, name: &str, creates: bool) {
        let name = Text::Oem(name.as_bytes());
        let answer = if creates {
            let create = open::Create { attributes: 0, creation_time: 0, name };
            self.confined(command::CREATE, |writer| create.emit(writer))
        } else {
            let request = open::Request { access: 0x42, search_attributes: 0, name };
            self.confined(command::OPEN, |writer| request.emit(writer))
        };
        let header = Header::parse(&answer).unwrap();
        if !header.status.is_success() {
            return;
        }
        let block = Block::first(&header, &answer).unwrap();
        let fid = if creates {
            open::Created::parse(&block).unwrap().fid
        } else {
            open::Response::parse(&block).unwrap().fid
        };
        let request = read::Request { fid, count: 100, offset: 0, remaining: 0 };
        self.confined(command::READ, |writer| request.emit(writer));
        let request = write::Request { fid, offset: 0, remaining: 0, data: b"written" };
        self.confined(command::WRITE, |writer| request.emit(writer));
        let request = close::Request { fid, last_write_time: 1_000_000_000 };
        self.confined(command::CLOSE, |writer| request.emit(writer));
    }

    fn asks_all(&mut self, round: usize) {
        // Also below it, where it is a directory or a link to one.
        let name = ["SWAP", "SWAP\\IN"][round % 2];
        let text = Text::Oem(name.as_bytes());
        self.uses(name, round % 4 < 2);
        let request = path::Request { name: text };
        self.confined(command::QUERY_INFORMATION, |writer| request.emit(writer));
        let attributes = (round % 8 / 4) as u16;
        let request =
            query_information::SetRequest { attributes, last_write_time: 999_999_999, name: text };
        self.confined(command::SET_INFORMATION, |writer| request.emit(writer));
        let request = search::Request {
            max_count: 5,
            search_attributes: 0x16,
            name: Text::Oem(b"SWAP\\*.*"),
            resume_key: None,
        };
        self.confined(command::SEARCH, |writer| request.emit(writer));
        match round % 5 {
            0 => drop(self.renames(name, "OTHER")),
            1 => drop(self.removes(name)),
            2 => drop(self.removes("OTHER")),
            step => {
                let command = [command::CREATE_DIRECTORY, command::DELETE_DIRECTORY][step % 2];
                let request = path::Request { name: text };
                self.confined(command, |writer| request.emit(writer));
            }
        }
    }
}

/// Put something else in the place of what is there.
fn swap(root: &Path, outside: &Path, round: usize) {
    let place = root.join("SWAP");
    if fs::remove_file(&place).is_err() {
        let _ = fs::remove_dir_all(&place);
    }
    // Clients make files and directories here, too.
    match round % 5 {
        0 => drop(fs::write(&place, "inside")),
        1 => drop(symlink(outside.join("IN"), &place)),
        2 => drop(fs::hard_link(outside.join("FIFO"), &place)),
        3 => drop(symlink(outside, &place)),
        _ => {
            if fs::create_dir(&place).is_ok() {
                drop(symlink(outside.join("IN"), place.join("IN")));
            }
        }
    }
}

/// Swap so often while one client uses what is there, and another its own file.
fn all_swap(swaps: usize) {
    run_in_threads(async move {
        let (root, serving, target) = served(Smb1).await;
        let (port, secret) = (serving.port(), target.credentials.clone().unwrap().secret);
        // On the same file system, so that the FIFO can get another name.
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("IN"), SECRET).unwrap();
        fs::write(root.path().join("OWN"), "own").unwrap();
        let made = Command::new("mkfifo").arg(outside.path().join("FIFO")).status().unwrap();
        assert!(made.success());
        let state = |path: &Path| {
            let found = fs::metadata(path).unwrap();
            (found.modified().unwrap(), found.permissions().mode())
        };
        let untouched = outside.path().join("IN");
        let before = state(&untouched);
        let (root_path, outside_path) = (root.path().to_owned(), outside.path().to_owned());
        let swapped = tokio::task::spawn_blocking(move || {
            let (is_over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                let (is_over, asked) = (&is_over, &asked);
                for client in 0..2 {
                    let secret = &secret;
                    scope.spawn(move || {
                        let mut raw = Raw::connected(port, secret);
                        for round in client.. {
                            raw.asks_all(round);
                            asked.fetch_add(1, Ordering::Relaxed);
                            if is_over.load(Ordering::Relaxed) {
                                break;
                            }
                        }
                    });
                }
                let secret = &secret;
                scope.spawn(move || {
                    let mut raw = Raw::connected(port, secret);
                    while !is_over.load(Ordering::Relaxed) {
                        let began = Instant::now();
                        raw.uses("OWN", false);
                        let waited = began.elapsed();
                        assert!(waited < PATIENCE, "another client waited {waited:?}");
                    }
                });
                // A busy machine has to let the clients ask as well.
                let mut rounds = 0..100 * swaps;
                while let Some(round) = rounds.next()
                    && (round < swaps || asked.load(Ordering::Relaxed) < swaps / 20)
                {
                    swap(&root_path, &outside_path, round);
                }
                is_over.store(true, Ordering::Relaxed);
            });
        });
        swapped.await.unwrap();
        assert_eq!(fs::read(&untouched).unwrap(), SECRET);
        assert_eq!(state(&untouched), before);
        let mut names: Vec<_> =
            fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["FIFO", "IN"], "nothing was made or removed outside");
        serving.end().await;
    });
}

#[test]
fn files_swapped_for_links_or_pipes_are_refused_at_once() {
    all_swap(5_000);
}

#[test]
#[ignore = "long: 20,000 swaps"]
fn files_swapped_repeatedly_are_never_followed_outside() {
    all_swap(repeats(20_000));
}

/// A plain open waits until its other end is opened.
#[test]
fn every_request_refuses_a_fifo() {
    run(async {
        let (root, serving, target) = served(Smb1).await;
        let (port, secret) = (serving.port(), target.credentials.clone().unwrap().secret);
        let made = Command::new("mkfifo").arg(root.path().join("SWAP")).status().unwrap();
        assert!(made.success());
        let asked = tokio::task::spawn_blocking(move || {
            let mut raw = Raw::connected(port, &secret);
            for round in 0..40 {
                raw.asks_all(round);
            }
        });
        asked.await.unwrap();
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "it stays, and is alone");
        serving.end().await;
    });
}
