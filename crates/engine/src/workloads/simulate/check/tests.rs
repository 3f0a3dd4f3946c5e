use super::*;
use crate::messages::{Command, Request};

/// A request with `changes` of its values: paths in it, and the JSON there.
fn asked(changes: &[(&str, &str)]) -> Result<Checked, Failure> {
    let mut request = serde_json::json!({
        "type": "simulate", "seed": 1,
        "world": {
            "medium": {"topology": "cable", "rate_bps": 10_000_000},
            "machines": [{"tcp": {}, "interrupt": {}}, {"tcp": {}, "interrupt": {}}],
            "bounds": {}
        },
        "work": {
            "workload": "stream", "transport": "udp", "ip_version": 4, "message_size_bytes": 500,
            "amount": {"time_ns": 1_000_000_000_u64}, "warmup_ns": 0, "interval_ns": 100_000_000
        }
    });
    for (path, value) in changes {
        let (parent, key) = path.rsplit_once('/').unwrap();
        let parent = request.pointer_mut(parent).unwrap();
        let value = serde_json::from_str(value).unwrap();
        match parent {
            serde_json::Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
            _ => parent[key] = value,
        }
    }
    let command: Command =
        serde_json::from_value(serde_json::json!({"id": 1, "request": request})).unwrap();
    let Request::Simulate(request) = command.request else { panic!("another request") };
    check(&request)
}

#[test]
fn a_plain_request_is_taken() {
    let checked = asked(&[]).unwrap();
    assert!(matches!(checked.work, Work::Stream(_)));
    assert!(checked.cost.memory_bytes < 16 << 20, "{:?}", checked.cost);
}

#[test]
fn what_cannot_be_simulated_is_refused_with_what_is_allowed() {
    let machine = "/world/machines/0";
    let cases = [
        ("/world/machines", "[{}]", "`world.machines`: found 1; allowed: 2 to 2"),
        ("/work/ip_version", "5", "`work.ip_version`: found 5; allowed: 4 or 6"),
        (
            "/work/message_size_bytes",
            "1473",
            "`work.message_size_bytes`: found 1473; allowed: 1 to 1472 over udp and IPv4: simulated \
             machines do not fragment",
        ),
        (
            "/world/medium/loss_ratio",
            "1.0",
            "`world.medium.loss_ratio`: found 1; allowed: 0 to below 1",
        ),
        (
            "/world/medium/rate_bps",
            "10",
            "`world.medium`: rate 10 bit/s is not within 1000 to 100000000000 bit/s",
        ),
        (
            machine,
            r#"{"interrupt": {"each_ns": 10000000001}}"#,
            "`interrupt.each_ns`: found 10000000001; allowed: 0 to 10000000000",
        ),
        (machine, r#"{"ring_frames": 0}"#, "`ring_frames`: found 0; allowed: 1 to 65536"),
        (
            machine,
            r#"{"adapter_rate_ratio": 0.0}"#,
            "`adapter_rate_ratio`: found 0; allowed: 0.000001 to 1",
        ),
        (machine, r#"{"jitter_ratio": 1.5}"#, "`jitter_ratio`: found 1.5; allowed: 0 to 1"),
        (
            machine,
            r#"{"tcp": {"mss_bytes": 1461}}"#,
            "`tcp.mss_bytes`: found 1461; allowed: 64 to 1460",
        ),
        (
            machine,
            r#"{"tcp": {"delayed_ack_ns": 500000001}}"#,
            "`tcp.delayed_ack_ns`: found 500000001; allowed: 0 to 500000000",
        ),
        ("/world/bounds/events", "0", "`world.bounds.events`: found 0; allowed: 1 to"),
    ];
    for (path, value, message) in cases {
        let failure = asked(&[(path, value)]).unwrap_err();
        assert_eq!(failure.code, "request.value", "{path}");
        assert!(failure.message.starts_with(message), "{path}: {failure}");
    }
}

#[test]
fn a_world_too_big_for_memory_is_refused_before_it_begins() {
    let queues = r#"{"ring_frames": 65536, "queue_frames": 65536, "transmit_queue_frames": 65536}"#;
    let checked = asked(&[
        ("/world/medium/rate_bps", "100000000000"),
        ("/world/medium/delay_ns", "10000000000"),
        ("/world/machines/0", queues),
    ]);
    let refused = checked.unwrap().cost.check_beside(Cost::default()).unwrap_err();
    assert_eq!(refused.code, "request.too_large");
}
