//! `lanlab-engine`: the part of lanlab that touches packets, clocks and load.
//!
//! One process for each host, driven by JSON lines on its standard input and output. Only users who can start a
//! process on a host can measure there, because it opens no control port. It ends when its standard input closes.
//!
//! It is a library only for the binary, the fuzz targets and the tests to share.

mod background;
mod cost;
mod descriptors;
mod driver;
#[cfg(any(test, feature = "fuzz"))]
#[path = "../tests/fuzz_checks/mod.rs"]
pub mod fuzz_checks;
mod host;
mod host_window;
mod input;
mod listen;
mod medium;
mod netbios_names;
mod output;
mod paths;
mod recording;
mod resolve;
mod running;
mod stack_facts;
mod storage;
mod task;
mod tcp_sampler;
mod virtual_hosts;
mod waiting;
mod workloads;

use std::io::{self, BufReader, Write, stdout};
use std::process::ExitCode;
use std::time::Duration;

use lanlab_messages as messages;
use lanlab_os as os;

use crate::input::Input;

/// At least the size of the buffer of standard input; see `Input`.
const INPUT_BYTES: usize = 16 * 1024;

const USAGE: &str = "\
lanlab-engine: the measuring engine of lanlab

Usage:
  lanlab-engine                                    serve a driver: JSON lines on stdin and stdout
  lanlab-engine --end-after-silence SECONDS        the same; the driver is on another host: also
                                                   end after this time without input
  lanlab-engine --without-rights                   the same; first it gives up all capabilities for
                                                   good, as before it reads what strangers send
  lanlab-engine hold --end-after-silence SECONDS   do nothing until standard input ends or is so silent
  lanlab-engine schema                             print the JSON Schema of these lines
  lanlab-engine offloads --device NAME             print a network device's offloads
  lanlab-engine offloads --device NAME --set off   switch them off (or `on`), then print them
  lanlab-engine --version
";

/// Execute the command line arguments, without the program's name.
pub fn run(arguments: &[String]) -> ExitCode {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => serve(None),
        ["--end-after-silence", seconds] => with_silence(seconds, |silence| serve(Some(silence))),
        ["--without-rights"] => match os::give_up_rights() {
            Ok(()) => {
                // All threads of an engine at a link answer its frames.
                os::shorten_slices();
                serve(None)
            }
            Err(error) => {
                eprintln!("error: the rights of this process cannot be given up: {error}");
                ExitCode::FAILURE
            }
        },
        ["hold", "--end-after-silence", seconds] => with_silence(seconds, hold),
        ["schema"] => print(&schema()),
        ["offloads", "--device", device] => offloads(device, None),
        ["offloads", "--device", device, "--set", "off"] => offloads(device, Some(false)),
        ["offloads", "--device", device, "--set", "on"] => offloads(device, Some(true)),
        // Reserving memory runs in a separate process.
        ["touch-memory", size] => storage::touch_memory(size, None),
        ["touch-memory", size, directory] => storage::touch_memory(size, Some(directory)),
        ["--version" | "-V"] => print(concat!("lanlab-engine ", env!("CARGO_PKG_VERSION"))),
        ["--help" | "-h"] => print(USAGE.trim_end()),
        other => {
            eprintln!("error: unknown arguments: `{}`\n\n{USAGE}", other.join(" "));
            ExitCode::from(2)
        }
    }
}

fn serve(longest_silence: Option<Duration>) -> ExitCode {
    os::adjust_allocator();
    os::prepare_thread();
    os::raise_descriptor_limit(0);
    let mut output = output::Output::new(stdout()).before_it_ends(|| {
        lanlab_clients::wired::end_recordings();
        storage::remove_all();
    });
    if longest_silence.is_some() {
        output.progress_interval_ns = messages::REMOTE_PROGRESS_INTERVAL_NS;
    }
    let input = Input::new(longest_silence);
    driver::serve(BufReader::with_capacity(INPUT_BYTES, input), &output);
    ExitCode::SUCCESS
}

fn hold(longest_silence: Duration) -> ExitCode {
    let mut input = BufReader::with_capacity(INPUT_BYTES, Input::new(Some(longest_silence)));
    // Invalid input ends the engine.
    let _ = io::copy(&mut input, &mut io::sink());
    ExitCode::SUCCESS
}

fn with_silence(seconds: &str, then: impl FnOnce(Duration) -> ExitCode) -> ExitCode {
    if let Ok(seconds @ 1..=86_400) = seconds.parse() {
        return then(Duration::from_secs(seconds));
    }
    eprintln!("error: found `{seconds}` seconds; allowed: 1 to 86400");
    ExitCode::from(2)
}

/// Print a line; a closed output is not our error.
fn print(text: &str) -> ExitCode {
    let _ = writeln!(stdout(), "{text}");
    ExitCode::SUCCESS
}

fn schema() -> String {
    let schema = schemars::schema_for!(messages::Messages);
    serde_json::to_string_pretty(&schema).expect("a schema can be written as JSON")
}

fn offloads(device: &str, set: Option<bool>) -> ExitCode {
    let found = match set {
        None => os::offloads(device),
        Some(on) => os::set_offloads(device, on),
    };
    match found {
        Ok(offloads) => {
            let object: serde_json::Map<_, _> =
                offloads.iter().map(|offload| (offload.name.into(), offload.on.into())).collect();
            print(&serde_json::Value::Object(object).to_string())
        }
        Err(error) => {
            eprintln!("error: offloads of `{device}`: {error}");
            ExitCode::FAILURE
        }
    }
}
