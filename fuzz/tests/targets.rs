//! All fuzz targets in one program: `FUZZ_TARGET` names the one to feed, `FUZZ_TARGET=list` prints the
//! names. One link instead of one for each target.
#![no_main]

mod file_services;
mod heard_frames;
mod ipx_station;
#[path = "../../crates/stack/tests/support/memory_files.rs"]
mod memory_files;
mod nbf_frames;
mod nbf_station;
mod ncp_station;
mod smb1_client;
mod smb1_messages;
mod smb1_server;

use std::process;
use std::sync::OnceLock;

use lanlab_engine::fuzz_checks as engine;

/// Takes any octets, and panics if something does not hold.
type Check = fn(&[u8]);

const TARGETS: &[(&str, Check)] = &[
    ("probe", engine::probe),
    ("session", engine::session),
    ("engine_line", engine::engine_line),
    ("session_machines", engine::session_machines),
    ("tally", engine::tally),
    ("host_texts", engine::host_texts),
    ("ip_frames", engine::ip_frames),
    ("iperf3_dialogue", engine::iperf3_dialogue),
    ("ftp_answers", file_services::ftp_answers),
    ("http_answers", file_services::http_answers),
    ("nfs_answers", file_services::nfs_answers),
    ("nfs_calls", file_services::nfs_calls),
    ("s3_requests", file_services::s3_requests),
    ("sftp_messages", file_services::sftp_messages),
    ("smb1_client", smb1_client::smb1_client),
    ("smb1_messages", smb1_messages::smb1_messages),
    ("smb1_server", |octets| {
        smb1_server::smb1_server(octets);
    }),
    ("nbf_frames", nbf_frames::nbf_frames),
    ("nbf_station", nbf_station::nbf_station),
    ("ipx_station", ipx_station::ipx_station),
    ("ncp_station", |octets| {
        ncp_station::ncp_station(octets);
    }),
    ("heard_frames", heard_frames::heard_frames),
];

static CHECK: OnceLock<Check> = OnceLock::new();

/// The target that the environment names; without one, the process ends with the names.
fn named_check() -> Check {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    if let Some((_, check)) = TARGETS.iter().find(|(target, _)| *target == name) {
        return *check;
    }
    for (target, _) in TARGETS {
        println!("{target}");
    }
    if name == "list" {
        process::exit(0);
    }
    eprintln!("error: FUZZ_TARGET: found `{name}`; allowed: `list` or one of these targets");
    process::exit(2);
}

libfuzzer_sys::fuzz_target!(
    init: {
        CHECK.get_or_init(named_check);
    },
    |octets: &[u8]| {
        CHECK.get_or_init(named_check)(octets);
    }
);
