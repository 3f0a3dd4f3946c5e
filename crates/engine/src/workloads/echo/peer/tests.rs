//! Requests to peers that are not engines, and errors about peers that misbehave.

use super::super::tests::spec;
use super::*;
use crate::messages::{CpuTime, EchoSpec, PeerEcho, Receive};

fn request(protocol: PeerEchoProtocol, transport: Transport) -> PeerEcho {
    let port = if protocol == PeerEchoProtocol::Icmp { 0 } else { 7 };
    let spec = EchoSpec { transport, ..spec() };
    let peer = "192.0.2.7".parse().unwrap();
    PeerEcho { spec, protocol, bind: None, peer, port, processor: None }
}

fn refusal(change: impl FnOnce(&mut PeerEcho), mut request: PeerEcho) -> Option<String> {
    change(&mut request);
    with_peer(request).err().map(|failure| failure.message)
}

#[test]
fn each_protocol_has_its_port_and_its_transport() {
    use PeerEchoProtocol::{Connect, Echo, Icmp};
    use Transport::{Tcp, Udp};
    for (protocol, transport) in [(Echo, Udp), (Echo, Tcp), (Connect, Tcp), (Icmp, Udp)] {
        assert_eq!(refusal(|_| {}, request(protocol, transport)), None);
    }
    let wrong = refusal(|_| {}, request(Connect, Udp)).unwrap();
    assert_eq!(wrong, "`transport`: found udp; allowed: tcp");
    let wrong = refusal(|_| {}, request(Icmp, Tcp)).unwrap();
    assert_eq!(wrong, "`transport`: found tcp; allowed: udp");
    let wrong = refusal(|one| one.port = 7, request(Icmp, Udp)).unwrap();
    assert_eq!(wrong, "`port`: found 7; allowed: 0 to 0");
    let wrong = refusal(|one| one.port = 0, request(Echo, Udp)).unwrap();
    assert_eq!(wrong, "`port`: found 0; allowed: 1 to 65535");
    let many = refusal(|one| one.spec.outstanding_requests = 101, request(Connect, Tcp)).unwrap();
    assert_eq!(many, "`outstanding_requests`: found 101; allowed: 1 to 100");
}

fn requested(ended_by: EndedBy, foreign_datagrams: u64) -> EchoRequested {
    EchoRequested {
        ended_by,
        receive: Receive::Block,
        start_skew_ns: 0,
        elapsed_ns: 0,
        sending_ns: 0,
        sending_replies: 0,
        offered_requests: 0,
        requests: 0,
        replies: 0,
        timeouts: 0,
        late_replies: 0,
        duplicate_replies: 0,
        refused_requests: 0,
        foreign_datagrams,
        round_trip: crate::messages::Distribution::default(),
        kernel_round_trip: None,
        over_time: crate::messages::RoundTripsOverTime::default(),
        cpu: CpuTime::default(),
        host: None,
        tcp: None,
    }
}

#[test]
fn a_peer_that_closes_is_reported_as_its_protocol_allows() {
    use PeerEchoProtocol::{Connect, Echo, Icmp};
    use Transport::{Tcp, Udp};
    let said = |protocol, transport, ended_by, foreign| {
        let request = request(protocol, transport);
        failure_of(&requested(ended_by, foreign), &request, None)
            .map(|failure| (failure.code, failure.message))
    };
    let closed = |protocol, transport| said(protocol, transport, EndedBy::PeerClosed, 0).unwrap().1;
    assert_eq!(closed(Connect, Tcp), "TCP port 7 of 192.0.2.7 refuses connections now");
    assert_eq!(closed(Echo, Udp), "UDP port 7 of 192.0.2.7 is closed now");
    let cut = "TCP port 7 of 192.0.2.7 closed the connection before the end of the trial";
    assert_eq!(closed(Echo, Tcp), cut);
    let silent = said(Icmp, Udp, EndedBy::Silence, 0).unwrap();
    assert_eq!(silent, ("peer.sends_nothing", "192.0.2.7 does not answer any more".to_owned()));
    let wrong = said(Echo, Udp, EndedBy::Silence, 3).unwrap();
    assert_eq!(wrong.0, "peer.wrong_answer");
    assert!(
        wrong.1.ends_with("sends back something else than it is sent (3 times)"),
        "{}",
        wrong.1
    );
    assert_eq!(said(Echo, Udp, EndedBy::Finished, 3), None);
}
