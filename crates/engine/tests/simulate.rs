//! Simulated worlds as a driver sees them.

mod driver;

use driver::Engine;
use serde_json::{Value, json};

const SECOND_NS: u64 = 1_000_000_000;

/// A request with a workload, for two machines and a cable of 10 Mbit/s.
fn simulate(work: &Value, machines: &[Value]) -> Value {
    json!({
        "type": "simulate",
        "seed": 1,
        "world": {
            "medium": {"topology": "cable", "rate_bps": 10_000_000},
            "machines": machines,
        },
        "work": work,
    })
}

fn with(mut value: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else { panic!("not an object") };
    value.as_object_mut().unwrap().extend(changes);
    value
}

fn stream(changes: Value) -> Value {
    let spec = json!({
        "transport": "udp", "message_size_bytes": 500, "flows": 1, "io": "single",
        "amount": {"time_ns": 2 * SECOND_NS}, "warmup_ns": SECOND_NS, "interval_ns": SECOND_NS,
        "silence_ns": SECOND_NS,
    });
    work("stream", spec, changes)
}

/// A workload with `changes` of its spec, or of what is beside it.
fn work(workload: &str, spec: Value, mut changes: Value) -> Value {
    let mut work = json!({"workload": workload, "ip_version": 4});
    for key in ["ip_version", "reply_size_bytes"] {
        if let Some(value) = changes.as_object_mut().unwrap().remove(key) {
            work[key] = value;
        }
    }
    with(work, json!({"spec": with(spec, changes)}))
}

fn echo(changes: Value) -> Value {
    let spec = json!({
        "transport": "udp", "message_size_bytes": 500, "amount": {"requests": 200},
        "timeout_ns": SECOND_NS, "warmup_ns": 100_000_000, "silence_ns": SECOND_NS,
    });
    work("echo", spec, changes)
}

fn outcomes(engine: &mut Engine, request: &Value) -> (Vec<Value>, Value) {
    let result = engine.result(request);
    assert_eq!(result["kind"], "simulated");
    assert_eq!(result["world"]["ended"], "programs_done");
    (result["outcomes"].as_array().unwrap().clone(), result["world"].clone())
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value}"))
}

fn goodput_mbps(received: &Value) -> f64 {
    number(received, "window_bytes") as f64 * 8e3 / number(received, "window_ns") as f64
}

/// Bytes of a message on Ethernet, with headers of IP and UDP, padding, preamble, check sequence and gap.
fn wire_bytes(message_bytes: u64, ip_version: u64) -> u64 {
    let ip = if ip_version == 4 { 20 } else { 40 };
    (message_bytes + ip + 8 + 18).max(64) + 20
}

#[test]
fn udp_reaches_wire_speed_over_ipv4_and_ipv6() {
    let mut engine = Engine::start();
    for (bytes, version) in [(2, 4), (500, 4), (500, 6), (1408, 4), (1408, 6), (1472, 4), (1452, 6)]
    {
        let work = stream(json!({"message_size_bytes": bytes, "ip_version": version}));
        let (roles, world) = outcomes(&mut engine, &simulate(&work, &[json!({}), json!({})]));
        let expected_mbps = 10.0 * bytes as f64 / wire_bytes(bytes, version) as f64;
        let mbps = goodput_mbps(&roles[1]);
        assert!((mbps / expected_mbps - 1.0).abs() < 0.001, "{bytes} B, IPv{version}: {mbps}");
        assert_eq!(roles[0]["sent_messages"], roles[1]["measured_messages"]);
        assert_eq!(roles[1]["receive_calls"], roles[1]["total_messages"]);
        // The wire was never idle, so that the sender waited for its buffer most of the time.
        assert!(number(&roles[0], "blocked_ns") > 19 * SECOND_NS / 10);
        assert_eq!(world["medium"][0]["lost_chance_frames"], 0);
    }
}

#[test]
fn tcp_with_buffers_of_8_kb_fills_10_mbit_per_s() {
    let machine = json!({"send_buffer_bytes": 8192, "tcp": {"window_bytes": 8192}});
    let mut engine = Engine::start();
    let work = stream(json!({"transport": "tcp", "message_size_bytes": 1460}));
    let (roles, _) = outcomes(&mut engine, &simulate(&work, &[machine.clone(), machine]));
    let mbps = goodput_mbps(&roles[1]);
    assert!((mbps - 9.45).abs() < 0.1, "{mbps} Mbit/s");
    assert_eq!(roles[0]["ended_by"], "finished");
    let tcp = &roles[0]["flows"][0]["tcp"];
    assert_eq!(tcp["retransmitted_segments"], 0);
    assert_eq!(tcp["maximum_segment_bytes"], 1460);
}

#[test]
fn a_tcp_transfer_delivers_every_byte_despite_loss() {
    let mut engine = Engine::start();
    let amount = json!({"bytes": 400_000});
    let work = stream(json!({"transport": "tcp", "amount": amount, "warmup_ns": 0}));
    let mut request = simulate(&work, &[json!({}), json!({})]);
    request["world"]["medium"]["loss_ratio"] = json!(0.02);
    let (roles, world) = outcomes(&mut engine, &request);
    assert_eq!(number(&roles[1], "window_bytes"), 400_000);
    assert_eq!(number(&roles[1]["flows"][0], "measured_messages"), 800);
    assert_eq!(roles[1]["ended_by"], "finished");
    assert!(number(&world["medium"][0], "lost_chance_frames") > 0);
    assert!(number(&roles[0]["flows"][0]["tcp"], "retransmitted_segments") > 0);
}

#[test]
fn idle_round_trips_take_two_frames_plus_machine_costs() {
    let machine = json!({
        "interrupt": {"each_ns": 10_000}, "protocol": {"each_ns": 20_000, "per_byte_ps": 100_000},
        "receive_call": {"each_ns": 30_000}, "send_call": {"each_ns": 40_000, "per_byte_ps": 200_000},
        "transmit": {"each_ns": 50_000},
    });
    // Of the message of 500 bytes 528 in IP; both ends do the same.
    let machine_ns = 10_000 + 20_000 + 52_800 + 30_000 + 40_000 + 100_000 + 50_000;
    let wire_ns = (wire_bytes(500, 4) - 12) * 800;
    let mut engine = Engine::start();
    for (machine, one_way_ns) in [(json!({}), wire_ns), (machine, wire_ns + machine_ns)] {
        for changes in [json!({}), json!({"rate_requests_per_s": 100.0})] {
            let request = simulate(&echo(changes), &[machine.clone(), machine.clone()]);
            let (roles, world) = outcomes(&mut engine, &request);
            let round_trip = &roles[0]["round_trip"];
            assert_eq!(number(&roles[0], "replies"), 200);
            assert_eq!(number(round_trip, "min_ns"), 2 * one_way_ns);
            assert_eq!(number(round_trip, "max_ns"), 2 * one_way_ns);
            for (role, host) in roles.iter().zip(world["hosts"].as_array().unwrap()) {
                let (cpu, system) = (&role["cpu"], ["interrupt_ns", "protocol_ns"]);
                assert_eq!(number(cpu, "user_ns"), number(host, "program_ns"));
                let system_ns = system.map(|key| number(host, key)).iter().sum::<u64>();
                assert_eq!(number(cpu, "system_ns"), system_ns);
                assert_eq!(number(cpu, "user_ns") > 0, one_way_ns > wire_ns);
            }
        }
    }
}

#[test]
fn many_requests_in_flight_queue_at_the_bottleneck() {
    // The responder takes a millisecond for each: Little's law says how long 20 of them take.
    let responder = json!({"receive_call": {"each_ns": 1_000_000}});
    let mut engine = Engine::start();
    for transport in ["udp", "tcp"] {
        let work = echo(json!({
            "transport": transport, "outstanding_requests": 20, "message_size_bytes": 100,
        }));
        let (roles, _) = outcomes(&mut engine, &simulate(&work, &[json!({}), responder.clone()]));
        let requester = &roles[0];
        assert_eq!((number(requester, "replies"), number(requester, "timeouts")), (200, 0));
        if transport == "udp" {
            let mean_ns = requester["round_trip"]["mean_ns"].as_f64().unwrap();
            let each_ns = number(requester, "sending_ns") / number(requester, "sending_replies");
            assert!((mean_ns / 20e6 - 1.0).abs() < 1e-3, "{mean_ns}");
            assert!(each_ns.abs_diff(1_000_000) < 1_000, "{requester}");
        }
    }
    let too_many = echo(json!({"transport": "tcp", "outstanding_requests": 200}));
    let error = engine.ask(&simulate(&too_many, &[json!({}), json!({})]));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("found 200; allowed: 8760 bytes in all over tcp"), "{message}");
}

#[test]
fn unlimited_requesters_queue_only_if_the_wire_is_the_bottleneck() {
    // A message of 500 bytes takes 453 us of the wire. The queue of the adapter holds 20 frames, the send
    // buffer 10 messages.
    let frame_ns = wire_bytes(500, 4) as f64 * 800.0;
    let mut engine = Engine::start();
    let mut mean_ns = |send_call_ns: u64| {
        let requester = json!({
            "send_call": {"each_ns": send_call_ns}, "transmit_queue_frames": 20,
            "send_buffer_bytes": 10 * (500 + 128),
        });
        let work = echo(json!({"outstanding_requests": 16_384, "amount": {"requests": 2_000}}));
        let (roles, world) = outcomes(&mut engine, &simulate(&work, &[requester, json!({})]));
        assert_eq!((number(&roles[0], "replies"), number(&roles[0], "timeouts")), (2_000, 0));
        assert_eq!(world["hosts"][0]["socket_dropped_datagrams"], 0);
        roles[0]["round_trip"]["mean_ns"].as_f64().unwrap()
    };
    let (slow_sender_ns, slow_wire_ns) = (mean_ns(600_000), mean_ns(100_000));
    // The reply comes after 600 + 2 * 453 us, and is taken in when the third request has been sent.
    assert!((slow_sender_ns / 1_800_000.0 - 1.0).abs() < 0.01, "{slow_sender_ns}");
    assert!((slow_wire_ns / (31.0 * frame_ns) - 1.0).abs() < 0.1, "{slow_wire_ns}");
}

#[test]
fn round_trips_over_tcp_carry_whole_messages_of_any_size() {
    let mut engine = Engine::start();
    for (request_bytes, reply_bytes) in [(1, 1), (5_000, 70_000)] {
        let work = echo(json!({
            "transport": "tcp", "message_size_bytes": request_bytes, "reply_size_bytes": reply_bytes,
            "amount": {"requests": 20},
        }));
        let (roles, _) = outcomes(&mut engine, &simulate(&work, &[json!({}), json!({})]));
        assert_eq!(number(&roles[0], "replies"), 20);
        assert!(roles[0]["tcp"].is_object());
        assert!(number(&roles[1], "answered_messages") >= 20);
    }
}

#[test]
fn a_slow_sender_sends_as_fast_as_its_processor_allows() {
    let slow = json!({"send_call": {"each_ns": 1_500_000}, "transmit": {"each_ns": 500_000}});
    let mut engine = Engine::start();
    let request = simulate(&stream(json!({})), &[slow, json!({})]);
    let (roles, world) = outcomes(&mut engine, &request);
    assert!(number(&roles[1], "window_messages").abs_diff(1000) <= 1, "{}", roles[1]);
    let cpu = &roles[0]["cpu"];
    assert!(number(cpu, "user_ns").abs_diff(1_500_000_000) < 3_000_000, "{cpu}");
    assert!(number(cpu, "system_ns").abs_diff(500_000_000) < 3_000_000, "{cpu}");
    let host = &world["hosts"][0];
    let busy_ns = number(host, "program_ns") + number(host, "protocol_ns");
    assert!(busy_ns.abs_diff(3 * SECOND_NS) < 10_000_000, "{host}");
}

#[test]
fn every_message_is_received_or_counted_as_lost() {
    let slow = json!({
        "interrupt": {"each_ns": 150_000}, "protocol": {"each_ns": 400_000},
        "receive_call": {"each_ns": 400_000}, "ring_frames": 4, "queue_frames": 8,
        "receive_buffer_bytes": 4_000,
    });
    let bursty = json!({"interrupt": {"each_ns": 500_000}, "ring_frames": 2});
    let mut engine = Engine::start();
    for (machine, places) in [
        (slow, vec!["queue_dropped_frames", "socket_dropped_datagrams"]),
        (bursty, vec!["ring_dropped_frames"]),
    ] {
        let mut request = simulate(&stream(json!({})), &[json!({}), machine]);
        request["world"]["medium"]["loss_ratio"] = json!(0.01);
        let (roles, world) = outcomes(&mut engine, &request);
        let host = &world["hosts"][1];
        for place in &places {
            assert!(number(host, place) > 0, "{place}: {host}");
        }
        let lost = ["ring_dropped_frames", "queue_dropped_frames", "socket_dropped_datagrams"];
        let lost: u64 = lost.iter().map(|place| number(host, place)).sum();
        let lost = lost + number(&world["medium"][0], "lost_chance_frames");
        assert_eq!(number(&roles[0], "total_messages"), number(&roles[1], "total_messages") + lost);
    }
}

#[test]
fn the_same_request_gives_the_same_reply_and_the_same_frames() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = Vec::new();
    for name in ["first.pcap", "second.pcap"] {
        let path = folder.path().join(name);
        let machine = json!({"interrupt": {"each_ns": 100_000}, "jitter_ratio": 0.3});
        let work = stream(json!({"amount": {"time_ns": 200_000_000}, "transport": "tcp"}));
        let mut request = simulate(&work, &[machine.clone(), machine]);
        request["world"]["medium"] = json!({"topology": "bus", "rate_bps": 10_000_000, "propagation_ns": 2_500, "loss_ratio": 0.01});
        request["pcap"] = json!(path);
        let result = Engine::start().result(&request);
        records.push((result.to_string(), std::fs::read(path).unwrap()));
    }
    assert!(records[0].1.len() > 10_000);
    assert!(records[0] == records[1]);
}

#[test]
fn a_world_without_an_end_is_stopped_by_its_bounds() {
    let mut engine = Engine::start();
    let machines = [json!({}), json!({})];
    let endless = |bounds: Value| {
        let mut request = simulate(&stream(json!({})), &machines);
        request["world"]["bounds"] = bounds;
        request
    };
    let cases = [
        (json!({"events": 1000}), "simulate.events", "events", "after 1000 events and 0."),
        (
            json!({"virtual_time_ns": 1_000_000}),
            "simulate.time",
            "time",
            "after 0.001 s of virtual",
        ),
    ];
    for (bounds, code, end, when) in cases {
        let line = engine.ask(&endless(bounds));
        assert_eq!(line["code"], code);
        assert_eq!(line["partial"]["world"]["ended"], end);
        assert!(line["message"].as_str().unwrap().contains("not come to its end"), "{line}");
        assert!(line["message"].as_str().unwrap().contains(when), "{line}");
    }
}

#[test]
fn cancelling_ends_a_world() {
    let mut engine = Engine::start();
    let work = stream(json!({"amount": {"time_ns": 86_400 * SECOND_NS}}));
    let id = engine.send(&simulate(&work, &[json!({}), json!({})]));
    let asked = engine.send(&json!({"type": "cancel", "target": id}));
    assert_eq!(engine.wait(asked)["type"], "result");
    let line = engine.wait(id);
    assert_eq!(line["code"], "cancelled");
    assert_eq!(line["partial"]["world"]["ended"], "cancelled");
}

#[test]
fn closed_loop_stations_share_a_server_as_theory_predicts() {
    // 15 stations, 750 bytes up and 64 back, a server of 2 ms + 1 µs for each byte: it is the bottleneck.
    let server = json!({"receive_call": {"each_ns": 2_000_000, "per_byte_ps": 1_000_000}});
    let mut machines = vec![json!({}); 15];
    machines.push(server);
    let work = echo(json!({
        "message_size_bytes": 750, "reply_size_bytes": 64, "amount": {"time_ns": 10 * SECOND_NS},
        "warmup_ns": SECOND_NS,
    }));
    let mut request = simulate(&work, &machines);
    request["world"]["medium"] =
        json!({"topology": "bus", "rate_bps": 10_000_000, "propagation_ns": 2_500});
    let (roles, _) = outcomes(&mut Engine::start(), &request);
    let replies: u64 = roles[..15].iter().map(|role| number(role, "replies")).sum();
    let expected = 10_000.0 / 2.75;
    assert!((replies as f64 / expected - 1.0).abs() < 0.01, "{replies}, expected {expected}");
    assert_eq!(roles.len(), 16);
}
