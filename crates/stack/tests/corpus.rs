//! What has been fed to the fuzz target of the redirector once is fed to it by every test run, and some
//! of anything else.

#[path = "../../../fuzz/seeds.rs"]
mod seeds;
#[path = "../../../fuzz/smb1_client.rs"]
mod smb1_client;

use proptest::prelude::*;

/// Cuts of one seed that are fed, too; it is another seed then.
const CUTS: usize = 48;

#[test]
fn smb1_client() {
    for octets in seeds::seeds("smb1_client") {
        smb1_client::smb1_client(&octets);
        for length in (0..octets.len()).step_by(1 + octets.len() / CUTS) {
            smb1_client::smb1_client(&octets[..length]);
        }
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..600))| {
        smb1_client::smb1_client(&octets);
    });
}
