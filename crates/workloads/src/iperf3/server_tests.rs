//! A server and its clients' messages, valid and invalid; and exchanges of iperf 3.12 (Debian 12)
//! with itself over loopback, whose control connections were recorded on 2026-11-27 (`captured/`).

use lanlab_wire::iperf3::{COOKIE_BYTES, State};

use super::*;
use crate::messages::PeerReport;

const BOUNDS: Bounds = Bounds { time_s: 60, ..Bounds::WIDEST };

fn text(json: &str) -> Vec<u8> {
    [&(json.len() as u32).to_be_bytes(), json.as_bytes()].concat()
}

fn said(server: &mut Server, octets: &[u8]) -> (Option<Served>, Vec<u8>) {
    server.handle(octets);
    (server.poll_event().unwrap(), server.take_output())
}

fn asked(json: &str, bounds: Bounds) -> Result<Asked, Refused> {
    let mut server = Server::new(bounds);
    assert_eq!(server.take_output(), [State::ParameterExchange as u8]);
    server.handle(&text(json));
    match server.poll_event()? {
        Some(Served::Asked(asked)) => Ok(*asked),
        event => panic!("{event:?}"),
    }
}

/// Replay a client's side of a dialogue; returns its request and its report.
fn go_through(client: &[u8]) -> (Asked, PeerReport) {
    let mut server = Server::new(BOUNDS);
    let (mut asked, mut report) = (None, None);
    // The code that accepts connections reads the cookie.
    for octet in &client[COOKIE_BYTES..] {
        server.handle(&[*octet]);
        match server.poll_event().unwrap() {
            None => {}
            Some(Served::Asked(one)) => {
                asked = Some(*one);
                server.open_flows();
                server.start();
            }
            Some(Served::End) => server.exchange(),
            Some(Served::Report(one)) => {
                server.give_results(&PeerReport::default());
                report = Some(*one);
            }
            Some(Served::Over) => return (asked.unwrap(), report.unwrap()),
        }
    }
    panic!("it is not over");
}

/// Replay a server's side of a dialogue; returns its report.
fn go_through_as_client(server: &[u8]) -> PeerReport {
    let test = asked(r#"{"tcp":true,"time":1}"#, BOUNDS).unwrap().test;
    let mut client = Client::new(test, &[b'a'; COOKIE_BYTES]);
    let mut found = None;
    for octet in server {
        client.handle(&[*octet]);
        while let Some(event) = client.poll_event().unwrap() {
            match event {
                Event::OpenFlows => {}
                Event::Running => client.end(),
                Event::WantResults => client.give_results(&PeerReport::default()),
                Event::Report(report) => found = Some(*report),
                Event::Over => return found.unwrap(),
            }
        }
    }
    panic!("it is not over");
}

#[test]
fn recorded_iperf3_dialogues_are_parsed_at_both_ends() {
    let bytes = |report: &PeerReport| report.streams.iter().map(|flow| flow.bytes).sum::<u64>();
    let ids = |report: &PeerReport| report.streams.iter().map(|flow| flow.id).collect::<Vec<_>>();

    let (asked, theirs) = go_through(include_bytes!("captured/tcp-forward.client"));
    let ours = go_through_as_client(include_bytes!("captured/tcp-forward.server"));
    assert_eq!((bytes(&theirs), bytes(&ours), ids(&ours)), (308_000, 308_000, vec![1]));
    let test = &asked.test;
    assert_eq!((test.is_udp, test.directions, test.flows), (false, (false, true), 1));
    // A test by bytes may take as long as the server allows.
    assert_eq!((test.message_bytes, test.time_s, asked.is_wide), (1_000, 60, false));

    let (asked, theirs) = go_through(include_bytes!("captured/tcp-both-4.client"));
    let ours = go_through_as_client(include_bytes!("captured/tcp-both-4.server"));
    assert_eq!((bytes(&theirs), bytes(&ours)), (1_004_000, 1_000_000));
    assert_eq!(ids(&ours), (0..8).map(flow_number).collect::<Vec<_>>());
    let test = &asked.test;
    assert_eq!((test.directions, test.flows, test.rate_bps), ((true, true), 4, 1_000_000));

    let (asked, theirs) = go_through(include_bytes!("captured/udp-reverse.client"));
    let ours = go_through_as_client(include_bytes!("captured/udp-reverse.server"));
    assert_eq!((theirs.streams[0].packets, ours.streams[0].packets), (20, 51));
    assert_eq!((asked.test.is_udp, asked.test.directions), (true, (true, false)));

    let (_, theirs) = go_through(include_bytes!("captured/udp-both-2.client"));
    let ours = go_through_as_client(include_bytes!("captured/udp-both-2.server"));
    assert_eq!((bytes(&theirs), bytes(&ours)), (50_800, 50_800));
}

#[test]
fn excess_parameters_are_refused_with_an_iperf3_error() {
    for (wish, number, words) in [
        (r#""parallel":1000000"#, 6, "`parallel`: found 1000000; allowed: 1 to 128"),
        (r#""parallel":0"#, 6, "allowed: 1 to 128"),
        (r#""parallel":1.5"#, 6, "found 1.5"),
        (r#""parallel":"x""#, 6, "found \"x\""),
        (r#""time":61"#, 5, "`time`: found 61; allowed: 0 to 60"),
        (r#""omit":601"#, 12, "`omit`: found 601"),
        (r#""omit":30,"time":31"#, 5, "allowed: 0 to 30"),
        (r#""len":1048577"#, 7, "`len`: found 1048577"),
        (r#""len":-1"#, 7, "found -1"),
        (r#""bandwidth":1e30"#, 27, "`bandwidth`: found 1e+30"),
        (r#""window":536870913"#, 8, "`window`"),
        (r#""TOS":256"#, 21, "`TOS`"),
        (r#""congestion":"a-name-that-is-too-long""#, 134, "`congestion`"),
        (r#""fqrate":1"#, 13, "`fqrate`"),
        (r#""udp":true"#, 13, "neither"),
    ] {
        let refused = asked(&format!(r#"{{"tcp":true,{wish}}}"#), BOUNDS).unwrap_err();
        assert_eq!(refused.number, number, "{wish}");
        assert!(refused.failure.message.contains(words), "{}", refused.failure);
    }
    let udp = asked(r#"{"udp":true,"len":15}"#, BOUNDS).unwrap_err();
    assert_eq!(udp.number, 20);
}

#[test]
fn a_bounded_server_serves_only_rates_within_its_bound() {
    let bounds = Bounds { rate_bps: Some(4_000_000), ..BOUNDS };
    let rate = |wish: &str| asked(&format!(r#"{{"tcp":true,"parallel":4{wish}}}"#), bounds);
    assert_eq!(rate(r#","bandwidth":1000000"#).unwrap().test.rate_bps, 1_000_000);
    for (wish, found) in [(r#","bandwidth":1000001"#, "4000004 bit/s"), ("", "no rate")] {
        let refused = rate(wish).unwrap_err();
        assert_eq!(refused.number, 27);
        assert!(refused.failure.message.contains(found), "{}", refused.failure);
    }
}

fn refused(octets: &[u8]) -> String {
    let mut server = Server::new(BOUNDS);
    said(&mut server, &text(r#"{"tcp":true}"#));
    server.open_flows();
    server.start();
    server.handle(octets);
    loop {
        match server.poll_event() {
            Ok(Some(Served::End)) => server.exchange(),
            Ok(event) => panic!("nothing is wrong with {octets:?}: {event:?}"),
            Err(refused) => return refused.failure.message,
        }
    }
}

#[test]
fn protocol_errors_of_a_client_end_its_test_with_a_message() {
    assert!(refused(b"GET / HTTP/1.1").contains("does not speak iperf3's protocol"));
    assert!(refused(&[State::Done as u8]).contains("Done where Running was due"));
    assert!(refused(&[State::ClientTerminate as u8]).contains("was ended at its end"));
    let end = |results: &[u8]| refused(&[&[State::TestEnd as u8], results].concat());
    assert!(end(&[0xff; 4]).contains("a text of 4294967295 bytes"));
    assert!(end(&text(&"[".repeat(100_000))).contains("not its JSON"));
    let many = format!(r#"{{"streams":[{}{{}}]}}"#, "{},".repeat(512));
    assert!(end(&text(&many)).contains("at most 512 flows"));
}

#[test]
fn refusals_carry_the_codes_clients_read() {
    let mut server = Server::new(BOUNDS);
    server.take_output();
    server.refuse(27);
    assert_eq!(server.take_output(), [254, 0, 0, 0, 27, 0, 0, 0, 0]);
    server.handle(&[State::ClientTerminate as u8]);
    assert_eq!(server.poll_event(), Ok(None));
}

proptest::proptest! {
    #[test]
    fn any_client_bytes_are_handled_without_panic(octets: Vec<u8>, json: String) {
        for said in [octets, text(&json)] {
            let mut server = Server::new(BOUNDS);
            server.handle(&said);
            for _ in 0..=said.len() {
                if !matches!(server.poll_event(), Ok(Some(_))) {
                    break;
                }
            }
        }
    }
}
