//! The failure of a trial that the other host does not end.

use crate::messages::Failure;

pub fn went_on_too_long() -> Failure {
    Failure::new("peer.too_long", "the other host had not ended an hour after its time")
        .hint("check that it is lanlab's engine, and that the link is fast enough for the amount")
}
