//! Captures as tshark reads them.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// Fields of every frame, by tshark. `None` where it is not installed and not required.
pub fn fields(capture: &[u8], of: &str, names: &[&str]) -> Option<Vec<String>> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{of}.pcap"));
    std::fs::write(&file, capture).unwrap();
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&file).args(["-T", "fields"]);
    for name in names {
        tshark.args(["-e", name]);
    }
    let output = match tshark.output() {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var("LANLAB_REQUIRE_PEERS").is_err(), "tshark: {error}");
            let _ = writeln!(std::io::stderr(), "\nSKIPPED [1] Rust: tshark is not installed");
            return None;
        }
    };
    std::fs::remove_file(&file).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}
