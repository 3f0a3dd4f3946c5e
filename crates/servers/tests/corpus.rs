//! What has been fed to a fuzz target once is fed to it by every test run, and some of anything else.

#[path = "../../../fuzz/tests/seeds.rs"]
mod seeds;

#[path = "../../../fuzz/tests/file_services.rs"]
mod file_services;

use proptest::prelude::*;

/// Cuts of one seed that are fed, too; it is another seed then.
const CUTS: usize = 48;

type Feed = fn(&[u8]);

/// Feed every seed of `target` to `feed`, whole and cut, then octets that were made up.
fn feed_all(target: &str, feed: Feed) {
    for octets in seeds::seeds(target) {
        feed(&octets);
        for length in (0..octets.len()).step_by(1 + octets.len() / CUTS) {
            feed(&octets[..length]);
        }
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..400))| feed(&octets));
}

#[test]
fn every_seed_is_handled() {
    let cases: [(&str, Feed); 6] = [
        ("ftp_answers", file_services::ftp_answers),
        ("http_answers", file_services::http_answers),
        ("nfs_answers", file_services::nfs_answers),
        ("nfs_calls", file_services::nfs_calls),
        ("s3_requests", file_services::s3_requests),
        ("sftp_messages", file_services::sftp_messages),
    ];
    for (target, feed) in cases {
        feed_all(target, feed);
    }
}
