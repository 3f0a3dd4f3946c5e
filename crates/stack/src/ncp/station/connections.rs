//! Requests about connections, which the carrier answers: a client learns only about its own.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::function::{self, Function};

use super::answerer::Answerer;

const IS_NCP: u8 = 2;

impl Answerer {
    /// The reply to a request about connections, or its error code. `None`: the program answers other requests.
    pub(super) fn of_connection(
        &self,
        function: Function,
        asked: &[u8],
    ) -> Option<Result<Vec<u8>, u8>> {
        let own = self.connection as u8;
        let address = self.client.address;
        let address = || {
            let network = address.network.to_be_bytes();
            [&network[..], &address.node, &address.socket.to_be_bytes()].concat()
        };
        let said = match function {
            function::CONNECTION_NUMBER => return Some(Ok(vec![own])),
            function::ADDRESS_OLD => Some(Ok(address())),
            function::ADDRESS => Some(Ok([&address()[..], &[IS_NCP]].concat())),
            function::LOGGED_INFORMATION => None,
            _ => return None,
        };
        // The number has one byte, or four in little-endian order.
        match asked {
            [] => Some(Err(completion::BAD_PACKET)),
            [number, rest @ ..] if *number == own && rest.iter().take(3).all(|high| *high == 0) => {
                said
            }
            _ => Some(Err(completion::COLLISION)),
        }
    }
}
