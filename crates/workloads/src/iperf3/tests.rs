//! A client and its servers' messages, valid and invalid.

use lanlab_wire::iperf3::{COOKIE_BYTES, State};

use super::*;
use crate::messages::PeerReport;

fn test() -> Test {
    Test {
        is_udp: false,
        directions: (false, true),
        time_s: 3,
        flows: 2,
        message_bytes: 131_072,
        rate_bps: 0,
        nodelay: false,
        buffer_bytes: None,
        congestion: None,
    }
}

fn client() -> Client {
    let mut client = Client::new(test(), &[b'a'; COOKIE_BYTES]);
    assert_eq!(client.take_output(), [b'a'; COOKIE_BYTES]);
    client
}

fn text(json: &str) -> Vec<u8> {
    let mut octets = (json.len() as u32).to_be_bytes().to_vec();
    octets.extend_from_slice(json.as_bytes());
    octets
}

fn said(client: &mut Client, octets: &[u8]) -> (Option<Event>, Vec<u8>) {
    client.handle(octets);
    (client.poll_event().unwrap(), client.take_output())
}

fn asked(test: Test) -> serde_json::Value {
    let mut client = Client::new(test, &[0; COOKIE_BYTES]);
    client.take_output();
    let (event, sent) = said(&mut client, &[State::ParameterExchange as u8]);
    assert_eq!(event, None);
    assert_eq!(sent[..4], ((sent.len() - 4) as u32).to_be_bytes());
    serde_json::from_slice(&sent[4..]).unwrap()
}

fn running() -> Client {
    let mut client = client();
    said(&mut client, &[State::ParameterExchange as u8]);
    let opened = said(&mut client, &[State::CreateStreams as u8]);
    assert_eq!(opened, (Some(Event::OpenFlows), Vec::new()));
    // Both may arrive in one segment.
    let started = [State::TestStart as u8, State::TestRunning as u8];
    assert_eq!(said(&mut client, &started).0, Some(Event::Running));
    client
}

#[test]
fn a_test_goes_through_its_states_to_the_report_of_the_server() {
    let mut client = running();
    client.end();
    assert_eq!(client.take_output(), [State::TestEnd as u8]);
    let wanted = said(&mut client, &[State::ExchangeResults as u8]);
    assert_eq!(wanted, (Some(Event::WantResults), Vec::new()));
    client.give_results(&PeerReport::default());
    let ours = client.take_output();
    assert_eq!(serde_json::from_slice::<PeerReport>(&ours[4..]).unwrap(), PeerReport::default());
    let theirs = text(
        r#"{"cpu_util_total":1.5,"cpu_util_user":null,"streams":[{"id":1,"bytes":1.5e10},{"id":3.0,"jitter":null,"packets":2.0}],"x":[]}"#,
    );
    // Byte by byte.
    for octet in &theirs[..theirs.len() - 1] {
        assert_eq!(said(&mut client, &[*octet]), (None, Vec::new()));
    }
    let (event, _) = said(&mut client, &theirs[theirs.len() - 1..]);
    let Some(Event::Report(report)) = event else { panic!("{event:?}") };
    assert_eq!((report.cpu_util_total, report.streams[0].bytes), (1.5, 15_000_000_000));
    assert_eq!(report.streams.iter().map(|flow| flow.id).collect::<Vec<_>>(), [1, 3]);
    let over = said(&mut client, &[State::DisplayResults as u8]);
    assert_eq!(over, (Some(Event::Over), vec![State::Done as u8]));
}

#[test]
fn impossible_numbers_are_refused() {
    let flow = |field: &str| format!(r#"{{"streams":[{{"id":1,{field}}}]}}"#);
    let read = |field: &str| serde_json::from_str::<PeerReport>(&flow(field));
    for field in [
        r#""jitter":1e300"#,
        r#""jitter":1e10"#,
        r#""bytes":1e30"#,
        r#""packets":-1e300"#,
        r#""errors":1e20"#,
        r#""end_time":1e17"#,
    ] {
        let refused = read(field).unwrap_err().to_string();
        assert!(refused.contains("allowed: at most"), "{field}: {refused}");
    }
    // Some versions write an unknown count like this.
    assert_eq!(read(r#""retransmits":18446744073709551615"#).unwrap().streams[0].retransmits, -1);
    assert!((read(r#""jitter":0.25"#).unwrap().streams[0].jitter - 0.25).abs() < 1e-9);
}

#[test]
fn requested_settings_are_sent_as_parameters() {
    let plain = asked(test());
    assert_eq!(
        (&plain["tcp"], &plain["parallel"], &plain["len"]),
        (&true.into(), &2.into(), &131_072.into())
    );
    for key in ["udp", "reverse", "bidirectional", "bandwidth", "window", "congestion", "nodelay"] {
        assert!(plain.get(key).is_none(), "{key}");
    }
    let udp = asked(Test {
        is_udp: true,
        directions: (true, true),
        rate_bps: 5_000_000,
        buffer_bytes: Some(65_536),
        ..test()
    });
    assert_eq!((&udp["udp"], &udp["bidirectional"]), (&true.into(), &true.into()));
    assert_eq!((&udp["bandwidth"], &udp["window"]), (&5_000_000.into(), &65_536.into()));
    assert!(udp.get("tcp").is_none() && udp.get("reverse").is_none());
    let back = asked(Test { directions: (true, false), nodelay: true, ..test() });
    assert_eq!((&back["reverse"], &back["nodelay"]), (&true.into(), &true.into()));
}

fn refused(mut client: Client, octets: &[u8]) -> String {
    client.handle(octets);
    loop {
        match client.poll_event() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("nothing is wrong with {octets:?}"),
            Err(failure) => return failure.to_string(),
        }
    }
}

#[test]
fn protocol_errors_of_a_server_end_the_test_with_a_message() {
    assert!(refused(client(), b"HTTP/1.1 400").contains("does not speak iperf3's protocol"));
    assert!(refused(client(), &[State::DisplayResults as u8]).contains("DisplayResults where"));
    assert!(refused(running(), &[State::TestRunning as u8]).contains("TestRunning where Running"));
    let mut opened = client();
    said(&mut opened, &[State::ParameterExchange as u8]);
    let by_rules = |client: &Client| client.closed().hint.unwrap().contains("allows only");
    assert!(by_rules(&opened) && !by_rules(&running()));
    said(&mut opened, &[State::CreateStreams as u8]);
    // As many as one read returns, and more.
    let starts = vec![State::TestStart as u8; 1 << 20];
    assert!(refused(opened, &starts).contains("TestStart where Started was due"));
    assert_eq!(
        refused(client(), &[State::AccessDenied as u8]),
        "peer.busy: the iperf3 server is busy with another client"
    );
    assert!(refused(running(), &[State::ServerTerminate as u8]).starts_with("peer.closed"));
    let failed = [254, 0, 0, 0, 126, 0, 0, 0, 22];
    assert_eq!(
        refused(client(), &failed),
        "peer.failed: the iperf3 server failed with its error 126 and the system's 22"
    );
}

#[test]
fn endless_or_malformed_results_are_refused_early() {
    let awaiting = || {
        let mut client = running();
        client.end();
        said(&mut client, &[State::ExchangeResults as u8]);
        client
    };
    assert!(refused(awaiting(), &[0xff; 4]).contains("a text of 4294967295 bytes"));
    assert!(refused(awaiting(), &[0, 0x10, 0, 1]).contains("a text of 1048577 bytes"));
    assert!(refused(awaiting(), &text("{]")).contains("not its JSON"));
    assert!(refused(awaiting(), &text(&"[".repeat(100_000))).contains("not its JSON"));
    let many = format!(r#"{{"streams":[{}{{}}]}}"#, "{},".repeat(512));
    assert!(refused(awaiting(), &text(&many)).contains("at most 512 flows"));
}

proptest::proptest! {
    #[test]
    fn any_server_bytes_are_handled_without_panic(octets: Vec<u8>) {
        for mut client in [client(), running()] {
            client.handle(&octets);
            for _ in 0..=octets.len() {
                if !matches!(client.poll_event(), Ok(Some(_))) {
                    break;
                }
            }
        }
    }
}
