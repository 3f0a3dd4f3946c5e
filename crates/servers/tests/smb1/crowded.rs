//! Directories of many files: what one client does in one keeps no other waiting, and costs what it costs
//! in a small one.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lanlab_files::ServiceKind::Smb1;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::{command, open, path, search};

use super::hostile::Raw;
use crate::multiplexed::{run, run_in_threads, served};

/// Clients that search at once, more than the server has threads.
const SEARCHERS: usize = 12;

fn fill(directory: &Path, files: usize) {
    fs::create_dir_all(directory).unwrap();
    for number in 0..files {
        fs::write(directory.join(format!("a long name {number:06}.data")), "").unwrap();
    }
}

impl Raw {
    fn searches(&mut self, pattern: &str) {
        let name = Text::Oem(pattern.as_bytes());
        let request =
            search::Request { max_count: 50, search_attributes: 0, name, resume_key: None };
        self.ask(command::SEARCH, |writer| request.emit(writer)).expect("an answer");
    }

    fn looks(&mut self, name: &str) {
        let request = path::Request { name: Text::Oem(name.as_bytes()) };
        self.ask(command::QUERY_INFORMATION, |writer| request.emit(writer)).expect("an answer");
    }

    fn makes(&mut self, name: &str) {
        let create =
            open::Create { attributes: 0, creation_time: 0, name: Text::Oem(name.as_bytes()) };
        self.ask(command::CREATE, |writer| create.emit(writer)).expect("an answer");
        self.removes(name);
    }
}

fn search_beside_others(files: usize) {
    run_in_threads(async move {
        let (root, serving, target) = served(Smb1).await;
        fill(root.path(), files);
        let (port, secret) = (serving.port(), target.credentials.clone().unwrap().secret);
        let searched = tokio::task::spawn_blocking(move || {
            let (is_searching, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
            std::thread::scope(|scope| {
                let (is_searching, is_over, secret) = (&is_searching, &is_over, &secret);
                let answers = scope.spawn(move || {
                    let (mut raw, mut answers) = (Raw::connected(port, secret), 0);
                    while !is_searching.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                    while !is_over.load(Ordering::Relaxed) {
                        raw.looks("\\");
                        answers += 1;
                    }
                    answers
                });
                let searchers = [(); SEARCHERS].map(|()| Raw::connected(port, secret));
                is_searching.store(true, Ordering::Relaxed);
                let search = |mut raw: Raw| scope.spawn(move || raw.searches("NONE*.*"));
                for searching in searchers.map(search) {
                    searching.join().unwrap();
                }
                is_over.store(true, Ordering::Relaxed);
                answers.join().unwrap()
            })
        });
        // A client that is kept waiting has its answer after most searches.
        let answers = searched.await.unwrap();
        assert!(answers > 2 * SEARCHERS, "{answers} answers to another client meanwhile");
        serving.end().await;
    });
}

#[test]
fn searches_without_matches_delay_no_other_client() {
    search_beside_others(4_000);
}

#[test]
#[ignore = "long: 60,000 files"]
fn searches_of_sixty_thousand_files_delay_no_other_client() {
    search_beside_others(60_000);
}

/// Time of each of some requests in a directory of `files` files, the least of many: on a busy machine some
/// are answered without a pause.
fn costs(files: usize) -> Vec<(&'static str, Duration)> {
    let costs = std::sync::Mutex::new(Vec::new());
    run(async {
        let (root, serving, target) = served(Smb1).await;
        fill(&root.path().join("D"), files);
        let (port, secret) = (serving.port(), target.credentials.clone().unwrap().secret);
        let measured = tokio::task::spawn_blocking(move || {
            let mut raw = Raw::connected(port, &secret);
            let mut cost = |what, request: &mut dyn FnMut(&mut Raw)| {
                let time = |raw: &mut Raw, request: &mut dyn FnMut(&mut Raw)| {
                    let began = Instant::now();
                    request(raw);
                    began.elapsed()
                };
                (what, (0..200).map(|_| time(&mut raw, request)).min().unwrap())
            };
            vec![
                cost("look at a file in another case", &mut |raw| {
                    raw.looks("\\D\\A LONG NAME 000050.DATA");
                }),
                cost("look for a file that is not there", &mut |raw| raw.looks("\\D\\NONE.DAT")),
                cost("create and remove a file", &mut |raw| raw.makes("\\D\\NEW.DAT")),
                cost("a page of a listing", &mut |raw| raw.searches("\\D\\*.*")),
            ]
        });
        *costs.lock().unwrap() = measured.await.unwrap();
        serving.end().await;
    });
    costs.into_inner().unwrap()
}

fn compare(many: usize) {
    let (small, large) = (costs(100), costs(many));
    for ((what, small), (_, large)) in small.into_iter().zip(large) {
        println!("{what}: {small:?} in a directory of 100 files, {large:?} of {many}");
        // A reading of all names would cost tens or hundreds of times as much.
        assert!(large < 3 * small + Duration::from_millis(1), "{what}: {small:?}, {large:?}");
    }
}

#[test]
fn request_cost_does_not_grow_with_the_directory() {
    compare(5_000);
}

#[test]
#[ignore = "long: 60,000 files"]
fn requests_among_60000_files_cost_as_much_as_among_100() {
    compare(60_000);
}
