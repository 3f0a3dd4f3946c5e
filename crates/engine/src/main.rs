//! `lanlab-engine`; see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    lanlab_engine::run(&arguments)
}
