//! Two clients, and a program of this host, that want the same names at once: each success is true.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Barrier, Mutex};

use lanlab_files::ServiceKind::Smb1;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{close, command, open, path, rename};

use super::hostile::Raw;
use crate::contested::repeats;
use crate::multiplexed::served;

const ALL: usize = 3;

impl Raw {
    fn succeeds(&mut self, command: u8, emit: impl FnOnce(&mut Writer<'_>)) -> bool {
        let answer = self.ask(command, emit).expect("an answer");
        Header::parse(&answer).unwrap().status.is_success()
    }

    pub fn renames(&mut self, from: &str, to: &str) -> bool {
        let (old_name, new_name) = (Text::Oem(from.as_bytes()), Text::Oem(to.as_bytes()));
        let request = rename::Request { search_attributes: 0, old_name, new_name };
        self.succeeds(command::RENAME, |writer| request.emit(writer))
    }

    fn creates(&mut self, name: &str) -> bool {
        let name = Text::Oem(name.as_bytes());
        let create = open::Create { attributes: 0, creation_time: 0, name };
        let answer = self.ask(command::CREATE_NEW, |writer| create.emit(writer)).unwrap();
        let header = Header::parse(&answer).unwrap();
        if !header.status.is_success() {
            return false;
        }
        let block = Block::first(&header, &answer).unwrap();
        let fid = open::Created::parse(&block).unwrap().fid;
        let request = close::Request { fid, last_write_time: 0 };
        assert!(self.succeeds(command::CLOSE, |writer| request.emit(writer)));
        true
    }

    pub fn removes(&mut self, name: &str) -> bool {
        let request = path::Delete { search_attributes: 0, name: Text::Oem(name.as_bytes()) };
        self.succeeds(command::DELETE, |writer| request.emit(writer))
    }

    fn of_directory(&mut self, command: u8, name: &str) -> bool {
        let request = path::Request { name: Text::Oem(name.as_bytes()) };
        self.succeeds(command, |writer| request.emit(writer))
    }
}

enum Racer {
    Client(Raw),
    Program,
}

impl Racer {
    fn renames(&mut self, root: &Path, from: &str, to: &str) -> bool {
        match self {
            Self::Client(raw) => raw.renames(from, to),
            // A link is never put in the place of something, as `mv --no-clobber` renames.
            Self::Program => {
                let is_linked = fs::hard_link(root.join(from), root.join(to)).is_ok();
                is_linked && fs::remove_file(root.join(from)).is_ok()
            }
        }
    }

    fn creates(&mut self, root: &Path, name: &str) -> bool {
        match self {
            Self::Client(raw) => raw.creates(name),
            Self::Program => fs::File::create_new(root.join(name)).is_ok(),
        }
    }

    fn removes(&mut self, root: &Path, name: &str) -> bool {
        match self {
            Self::Client(raw) => raw.removes(name),
            Self::Program => fs::remove_file(root.join(name)).is_ok(),
        }
    }

    fn makes_directory(&mut self, root: &Path, name: &str) -> bool {
        match self {
            Self::Client(raw) => raw.of_directory(command::CREATE_DIRECTORY, name),
            Self::Program => fs::create_dir(root.join(name)).is_ok(),
        }
    }

    fn removes_directory(&mut self, root: &Path, name: &str) -> bool {
        match self {
            Self::Client(raw) => raw.of_directory(command::DELETE_DIRECTORY, name),
            Self::Program => fs::remove_dir(root.join(name)).is_ok(),
        }
    }

    fn does(&mut self, step: usize, number: usize, root: &Path) -> bool {
        match step {
            0 => self.renames(root, &format!("OWN{number}"), "NEW"),
            1 => self.creates(root, "MADE"),
            2 => self.removes(root, "NEW"),
            3 => self.makes_directory(root, "DIR"),
            4 => self.removes_directory(root, "DIR"),
            _ => self.removes(root, "MADE"),
        }
    }
}

const STEPS: usize = 6;

/// Other files there: a server that reads all names before it renames takes long between the two.
const OTHERS: usize = 300;

fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| !name.starts_with("OTHER")).collect();
    names.sort();
    names
}

/// What is there after a step that one of them won. `own` are those who have their own file still.
fn check(step: usize, root: &Path, own: &mut Vec<usize>, winner: usize) {
    match step {
        0 => {
            let content = fs::read_to_string(root.join("NEW")).unwrap();
            assert_eq!(content, winner.to_string(), "another's file has the name");
            own.retain(|number| *number != winner);
        }
        1 => assert_eq!(fs::metadata(root.join("MADE")).unwrap().len(), 0),
        _ => {}
    }
    let mut expected: Vec<_> = own.iter().map(|number| format!("OWN{number}")).collect();
    let others: &[&str] = match step {
        0 => &["NEW"],
        1 => &["MADE", "NEW"],
        2 | 4 => &["MADE"],
        3 => &["DIR", "MADE"],
        _ => &[],
    };
    expected.extend(others.iter().map(|name| (*name).to_owned()));
    expected.sort();
    assert_eq!(names(root), expected, "step {step}");
}

fn race(racers: [Racer; ALL], root: &Path, rounds: usize) {
    let (barrier, won) = (Barrier::new(ALL), Mutex::new(Vec::new()));
    let (own, failed) = (Mutex::new(Vec::new()), Mutex::new(None));
    std::thread::scope(|scope| {
        for (number, mut racer) in racers.into_iter().enumerate() {
            let (barrier, won, own, failed) = (&barrier, &won, &own, &failed);
            scope.spawn(move || {
                for round in 0..rounds {
                    for step in 0..STEPS {
                        if step == 0 {
                            let path = root.join(format!("OWN{number}"));
                            fs::write(path, number.to_string()).unwrap();
                        }
                        barrier.wait();
                        if racer.does(step, number, root) {
                            won.lock().unwrap().push(number);
                        }
                        if barrier.wait().is_leader() {
                            let winners = std::mem::take(&mut *won.lock().unwrap());
                            let judge = || {
                                let said = format!("round {round}, step {step}: {winners:?}");
                                assert_eq!(winners.len(), 1, "{said}");
                                let mut own = own.lock().unwrap();
                                if step == 0 {
                                    *own = (0..ALL).collect();
                                }
                                check(step, root, &mut own, winners[0]);
                            };
                            // The others wait: all end together.
                            let judged = catch_unwind(AssertUnwindSafe(judge));
                            *failed.lock().unwrap() = judged.err();
                        }
                        barrier.wait();
                        if failed.lock().unwrap().is_some() {
                            return;
                        }
                    }
                }
            });
        }
    });
    if let Some(failed) = failed.into_inner().unwrap() {
        resume_unwind(failed);
    }
}

fn all_race(rounds: usize) {
    // As an engine serves: one thread alone would answer one client after another.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        let (root, serving, target) = served(Smb1).await;
        let (port, secret) = (serving.port(), target.credentials.clone().unwrap().secret);
        for number in 0..OTHERS {
            fs::write(root.path().join(format!("OTHER{number:03}")), "").unwrap();
        }
        let path = root.path().to_owned();
        let raced = tokio::task::spawn_blocking(move || {
            let client = || Racer::Client(Raw::connected(port, &secret));
            race([client(), client(), Racer::Program], &path, rounds);
        });
        raced.await.unwrap();
        serving.end().await;
    });
}

#[test]
fn one_of_several_clients_wins_a_name_and_no_file_is_lost() {
    all_race(100);
}

#[test]
#[ignore = "long: 1,000 rounds of six steps"]
fn exactly_one_of_several_clients_gets_a_contested_name() {
    all_race(repeats(1000));
}
