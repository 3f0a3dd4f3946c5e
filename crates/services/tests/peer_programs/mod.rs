//! Programs of others that a test needs: it is skipped where one is missing, and fails there with
//! `LANLAB_REQUIRE_PEERS=1`.
#![allow(dead_code, reason = "each test takes its part")]

use std::path::Path;
use std::process::{Child, Command};

/// Whether a program and the right to use it are there; says so where not.
pub fn can_run(program: &str, as_root: bool) -> bool {
    let found = if program.starts_with('/') {
        Path::new(program).exists()
    } else {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&paths).any(|folder| folder.join(program).exists())
    };
    let root =
        !as_root || Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if found && root {
        return true;
    }
    missing(&format!("{program}: {}", if found { "takes root" } else { "not installed" }))
}

/// What a test needs is not here: skip it, or fail.
pub fn missing(what: &str) -> bool {
    let required = std::env::var("LANLAB_REQUIRE_PEERS").is_ok_and(|wanted| wanted == "1");
    assert!(!required, "{what}");
    eprintln!("skipped: {what}");
    false
}

/// A program that ends with the test.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
