//! Programs of others and rights that a test needs: it is skipped where one is missing, and fails
//! there with `LANLAB_REQUIRE_PEERS=1`. What this system cannot have is named in
//! `LANLAB_ABSENT_PEERS`, with spaces between.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU16, Ordering};

/// Where servers lie, which need not be on the `PATH` of who is not root.
const FOLDERS_OF_SERVERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// Whether a program and the right to use it are there; says so where not.
pub fn can_run(program: &str, as_root: bool) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths)
        .chain(FOLDERS_OF_SERVERS.iter().map(Into::into))
        // An absolute path stays what it is.
        .any(|folder| folder.join(program).exists());
    let root =
        !as_root || Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if found && root {
        return true;
    }
    missing(&format!("{program}: {}", if found { "takes root" } else { "not installed" }))
}

/// What a test needs is not here: skip it, or fail. `what` begins with the name of the program.
pub fn missing(what: &str) -> bool {
    let set = |name| std::env::var(name).unwrap_or_default();
    let program = what.split(':').next().unwrap_or_default();
    let absent = set("LANLAB_ABSENT_PEERS").split(' ').any(|name| name == program);
    assert!(set("LANLAB_REQUIRE_PEERS") != "1" || absent, "{what}");
    skipped(what)
}

/// Say that a test is skipped: past the test runner, which shows nothing of a test that passes.
pub fn skipped(what: &str) -> bool {
    let _ = writeln!(std::io::stderr(), "\nSKIPPED [1] Rust: {what}");
    false
}

/// A port for a program that has to be given one. It stays free until then: the system gives no other program a
/// port below 32768 who does not ask for it, and other tests begin elsewhere.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = (std::process::id() % 1000) as u16 * 20;
    loop {
        let port = 10_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
