//! A cable between two interfaces of a network namespace of the test's own.

use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lanlab_os::{Interest, RawLink, RawLinkPlace, Readiness};

/// Set in the process that runs inside the namespace.
const INSIDE: &str = "LANLAB_TEST_IN_NAMESPACE";

/// Run a test again in a network namespace of its own; `false` in the process that is there already.
pub fn runs_outside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let run = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("`unshare` of util-linux");
    let (said, errors) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    if !run.status.success() && errors.contains("unshare: ") {
        eprintln!("skipped: no user namespaces: {errors}");
        return true;
    }
    assert!(run.status.success(), "{said}{errors}");
    assert!(said.contains("1 passed"), "the test did not run: {said}");
    print!("{said}");
    true
}

/// Types in Ethernet II.
const IPX: u16 = 0x8137;
const XNS: u16 = 0x0600;

/// The interfaces `left` and `right`, joined until this is dropped.
pub struct Cable {
    thread: Option<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
    /// Frames with a length, of IPX or XNS, that were carried, with their time and the end that sent them.
    pub log: Log,
}

pub fn place(name: &str) -> RawLinkPlace {
    RawLinkPlace::Interface(name.to_owned())
}

impl Cable {
    pub fn new() -> Self {
        Self::with_macs([[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]])
    }

    /// The same between interfaces with these addresses.
    pub fn with_macs(macs: [[u8; 6]; 2]) -> Self {
        let ends = [("left", macs[0]), ("right", macs[1])].map(|(name, mac)| {
            let tap = RawLink::tap(name, [2, 0, 0, 0, 0, 9]).unwrap();
            let mac = mac.map(|octet| format!("{octet:02x}")).join(":");
            let set = ["link", "set", name, "address", &mac, "up"];
            assert!(Command::new("ip").args(set).status().unwrap().success());
            tap
        });
        let is_over = Arc::new(AtomicBool::new(false));
        let log = Log::default();
        let own = (Arc::clone(&is_over), Arc::clone(&log));
        let thread = std::thread::spawn(move || carry(&ends, &own.0, &own.1));
        Self { thread: Some(thread), is_over, log }
    }
}

type Log = Arc<Mutex<Vec<(Instant, usize, Vec<u8>)>>>;

fn carry(ends: &[RawLink; 2], is_over: &AtomicBool, log: &Log) {
    let mut readiness = Readiness::new(2).unwrap();
    for (key, end) in ends.iter().enumerate() {
        readiness.watch(&end.as_fd(), key, Interest::Read).unwrap();
    }
    let mut frame = [0; 2048];
    while !is_over.load(Ordering::Relaxed) {
        let ready: Vec<_> = readiness.wait(Duration::from_millis(20)).unwrap().collect();
        for key in ready {
            while let Some(length) = ends[key].receive(&mut frame).unwrap() {
                let kind = u16::from_be_bytes([frame[12], frame[13]]);
                if length > 14 && (kind <= 1500 || [IPX, XNS].contains(&kind)) {
                    let sent = (Instant::now(), key, frame[..length].to_vec());
                    log.lock().unwrap().push(sent);
                }
                ends[1 - key].send(&frame[..length]).unwrap();
            }
        }
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}
