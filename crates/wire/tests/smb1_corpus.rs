//! What has been fed to the fuzz target of SMB 1 once is fed to it by every test run, and some of
//! anything else.

#[path = "../../../fuzz/tests/seeds.rs"]
mod seeds;
#[path = "../../../fuzz/tests/smb1_messages.rs"]
mod smb1_messages;

use proptest::prelude::*;

/// Cuts of one seed that are fed, too; it is another seed then.
const CUTS: usize = 48;

#[test]
fn smb1_messages() {
    for octets in seeds::seeds("smb1_messages") {
        smb1_messages::smb1_messages(&octets);
        for length in (0..octets.len()).step_by(1 + octets.len() / CUTS) {
            smb1_messages::smb1_messages(&octets[..length]);
        }
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..400))| {
        smb1_messages::smb1_messages(&octets);
    });
}
