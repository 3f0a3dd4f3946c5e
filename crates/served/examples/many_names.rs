//! What calls of SMB 1 and NCP for names cost in a directory with many names, and in one with 100.
//!
//!     cargo run --release --package lanlab-served --example many_names -- 1000000
//!
//! Makes both directories in /dev/shm, and removes them.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lanlab_served::{Files, Served};
use lanlab_stack::files::{FileAnswer, FileCall, Presence};

const FEW: usize = 100;
const CALLS: usize = 2000;
const ROUNDS: usize = 5;
const PAGE: u32 = 64;

type Call = fn(&mut Files, usize);

fn main() {
    let many = std::env::args().nth(1).map_or(1_000_000, |count| count.parse().expect("a count"));
    let mut served = [FEW, many].map(|count| {
        let root = tempfile::tempdir_in("/dev/shm").expect("a directory in memory");
        for number in 0..count {
            std::fs::write(root.path().join(name(number)), "").expect("a file");
        }
        let served =
            Arc::new(Served::new(root.path(), false, |_| true).expect("a directory to serve"));
        (count, Files::new(Arc::clone(&served)), (root, served))
    });
    for (count, files, (_, served)) in &mut served {
        let (count, mut other) = (*count, Files::new(Arc::clone(served)));
        let start = Instant::now();
        let longest = std::thread::scope(|scope| {
            let first = scope.spawn(|| look(files, "NONE.DAT".to_owned()));
            let mut longest = Duration::ZERO;
            for at in 0.. {
                let began = Instant::now();
                open(&mut other, name(at * 7919 % count));
                longest = longest.max(began.elapsed());
                if first.is_finished() {
                    break;
                }
            }
            longest
        });
        let [first_ms, longest_ms] =
            [start.elapsed(), longest].map(|time| time.as_secs_f64() * 1e3);
        println!(
            "{count} names: first miss {first_ms:.1} ms; another client opened a file in {longest_ms:.1} ms"
        );
    }
    let kinds: [(&str, Call); 4] = [
        ("open", |files, at| open(files, name(at))),
        ("open, other case", |files, at| open(files, name(at).to_lowercase())),
        ("miss", |files, at| look(files, format!("NONE{at}.DAT"))),
        ("page of 64", list),
    ];
    for (kind, call) in kinds {
        let mut best_ns = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            for ((count, files, _), best_ns) in served.iter_mut().zip(&mut best_ns) {
                let start = Instant::now();
                for at in 0..CALLS {
                    call(files, at * 7919 % *count);
                }
                *best_ns = best_ns.min(start.elapsed().as_nanos() as f64 / CALLS as f64);
            }
        }
        let [few, many] = best_ns;
        println!("{kind}: {few:.0} ns, {many:.0} ns, {:.2} x", many / few);
    }
}

fn name(number: usize) -> String {
    format!("F{number:07}.DAT")
}

fn carried_out(files: &mut Files, call: &FileCall) -> FileAnswer {
    loop {
        if let Some(answer) = files.carry_out(call, &mut Vec::new()) {
            return answer;
        }
        std::thread::sleep(Files::WAIT);
    }
}

fn open(files: &mut Files, name: String) {
    let (path, presence) = (vec![name], Presence::Old);
    let call = FileCall::Open { path, read: true, write: false, presence, truncate: false };
    let FileAnswer::Opened { handle, .. } = carried_out(files, &call) else { panic!("not opened") };
    carried_out(files, &FileCall::Close { handle });
}

fn look(files: &mut Files, name: String) {
    black_box(carried_out(files, &FileCall::Look { path: vec![name] }));
}

fn list(files: &mut Files, at: usize) {
    // A page that is full in both directories.
    let after = name(at % (FEW - PAGE as usize - 1));
    let call = FileCall::List { path: Vec::new(), after, most: PAGE };
    let FileAnswer::Listed(listed) = carried_out(files, &call) else { panic!("not listed") };
    assert_eq!(listed.len(), PAGE as usize);
}
