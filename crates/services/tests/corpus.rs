//! What has been fed to a fuzz target once is fed to it by every test run, and some of anything else.

#[path = "../../../fuzz/seeds.rs"]
mod seeds;

use lanlab_services::hostile;
use proptest::prelude::*;

/// Cuts of one seed that are fed, too; it is another seed then.
const CUTS: usize = 48;

/// Feed every seed of `target` to `feed`, whole and cut, then octets that were made up.
fn feed_all(target: &str, feed: fn(&[u8])) {
    for octets in seeds::seeds(target) {
        feed(&octets);
        for length in (0..octets.len()).step_by(1 + octets.len() / CUTS) {
            feed(&octets[..length]);
        }
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..400))| feed(&octets));
}

#[test]
fn ftp_answers() {
    feed_all("ftp_answers", hostile::ftp_answers);
}

#[test]
fn http_answers() {
    feed_all("http_answers", hostile::http_answers);
}

#[test]
fn nfs_answers() {
    feed_all("nfs_answers", hostile::nfs_answers);
}

#[test]
fn nfs_calls() {
    feed_all("nfs_calls", hostile::nfs_calls);
}

#[test]
fn s3_requests() {
    feed_all("s3_requests", hostile::s3_requests);
}

#[test]
fn sftp_messages() {
    feed_all("sftp_messages", hostile::sftp_messages);
}
