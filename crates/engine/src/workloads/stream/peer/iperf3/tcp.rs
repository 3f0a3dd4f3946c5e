//! TCP flows of a test, opened with the test's cookie.

use std::io::Write;
use std::net::{Shutdown, TcpStream};

use lanlab_os as os;
use lanlab_units::Instant;
use lanlab_wire::iperf3::COOKIE_BYTES;

use super::control::Control;
use super::dialogue::{self, Flows};
use crate::messages::{
    Failure, PeerDirection, PeerReportFlow, PeerStream, PeerStreamed, ReceiverLoad,
};
use crate::workloads::stream::Plan;
use crate::workloads::stream::acknowledged::Confirmation;
use crate::workloads::stream::peer::plain::{another_of_each, connect_all};
use crate::workloads::stream::tcp_receive::{Ends, receive_over};
use crate::workloads::stream::tcp_send::send_over;

/// Open the connections of all flows; in bidirectional tests those that send to the server come first.
pub fn open(
    request: &PeerStream,
    plan: &Plan,
    cookie: &[u8; COOKIE_BYTES],
) -> Result<Vec<TcpStream>, Failure> {
    let mut streams = connect_all(request, plan)?.0;
    if request.direction == PeerDirection::Both {
        streams.append(&mut connect_all(request, plan)?.0);
    }
    for mut stream in &streams {
        stream.write_all(cookie).map_err(|error| Failure::system("cookie", &error))?;
    }
    Ok(streams)
}

pub fn stream(
    request: &PeerStream,
    plan: &Plan,
    mut streams: Vec<TcpStream>,
    control: &mut Control,
    start: Instant,
) -> Result<(PeerStreamed, Option<Failure>), Failure> {
    let (running, processor) = (control.running, request.processor);
    // Closing a connection before the dialogue is over would be an error to the server.
    let kept = another_of_each(&streams)?;
    let receives_only = request.direction == PeerDirection::Receive;
    let sent_first = if receives_only { 0 } else { usize::from(plan.flows) };
    let receiving = streams.split_off(sent_first);
    let from_server = &kept[sent_first..];
    let confirmation = Confirmation::ByAcknowledgement { closes: false };
    let ends = (Ends::ByTheSender, ReceiverLoad::default());
    let flows = Flows {
        send: (!streams.is_empty())
            .then_some(|| send_over(plan, processor, streams, confirmation, running, start)),
        receive: (!receiving.is_empty())
            .then_some(|| receive_over(plan, processor, receiving, ends, running, start)),
        received: &|| from_server.iter().map(received).collect(),
        close: &|| {
            for stream in &kept {
                // An already closed connection stays closed.
                let _ = stream.shutdown(Shutdown::Both);
            }
        },
    };
    dialogue::run(control, (plan, start), flows)
}

fn received(stream: &TcpStream) -> PeerReportFlow {
    let bytes = os::tcp_info(stream).map_or(0, |info| info.facts.received_bytes);
    PeerReportFlow { bytes, ..PeerReportFlow::default() }
}
