use super::*;
use crate::messages::{Command, Outcome, Request, Simulated};
use crate::output::Output;
use crate::running::Running;
use crate::workloads::simulate::world;

/// A request with `changes`: paths in it, and their new JSON.
pub fn request(changes: &[(&str, &str)]) -> Simulate {
    let request = serde_json::json!({
        "type": "simulate", "seed": 1,
        "world": {
            "medium": {"topology": "cable", "rate_bps": 10_000_000},
            "machines": [{"tcp": {}, "interrupt": {}}, {"tcp": {}, "interrupt": {}}],
            "bounds": {}
        },
        "work": {
            "workload": "stream", "ip_version": 4,
            "spec": {
                "transport": "udp", "message_size_bytes": 500, "flows": 1, "io": "single",
                "amount": {"time_ns": 1_000_000_000_u64}, "warmup_ns": 0,
                "interval_ns": 100_000_000, "silence_ns": 1_000_000_000
            }
        }
    });
    changed(request, changes)
}

pub fn run(request: &Simulate) -> Result<Box<Simulated>, Failure> {
    let checked = check(request).unwrap();
    let running = Running::new(1, Output::new(std::io::sink()));
    match world::run(request, &checked, &running) {
        Ok(Outcome::Simulated(found)) => Ok(found),
        Ok(other) => panic!("{other:?}"),
        Err(failed) => Err(failed.failure),
    }
}

/// `request` with `changes`: paths in it, and their new JSON.
pub fn changed(mut request: serde_json::Value, changes: &[(&str, &str)]) -> Simulate {
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
    *request
}

fn asked(changes: &[(&str, &str)]) -> Result<Checked, Failure> {
    check(&request(changes))
}

#[test]
fn a_plain_request_is_accepted() {
    let checked = asked(&[]).unwrap();
    assert!(matches!(checked.work, Work::Stream(_)));
    assert!(checked.cost.memory_bytes < 16 << 20, "{:?}", checked.cost);
}

#[test]
fn impossible_input_is_refused_with_the_allowed_values() {
    let machine = "/world/machines/0";
    let cases = [
        ("/world/machines", "[{}]", "`world.machines`: found 1; allowed: 2 to 2"),
        ("/work/ip_version", "5", "`work.ip_version`: found 5; allowed: 4 or 6"),
        (
            "/work/spec/message_size_bytes",
            "1473",
            "`work.spec.message_size_bytes`: found 1473; allowed: 1 to 1472 over udp and IPv4: simulated \
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
    let queues = r#"[
        {"ring_frames": 65536, "queue_frames": 65536, "transmit_queue_frames": 65536},
        {"ring_frames": 65536, "queue_frames": 65536, "transmit_queue_frames": 65536}
    ]"#;
    let checked = asked(&[
        ("/world/medium/rate_bps", "100000000000"),
        ("/world/medium/delay_ns", "10000000000"),
        ("/world/machines", queues),
    ]);
    let refused = checked.unwrap().cost.check_beside(Cost::default()).unwrap_err();
    assert_eq!(refused.code, "request.too_large");
}

#[test]
fn queues_of_a_switch_count_up_to_the_frames_that_a_world_may_have() {
    let of = |bytes: &str| asked(&[("/world/medium/switch_queue_bytes", bytes)]).unwrap().cost;
    let [least, more, most] = ["72", "7200", "16777216"].map(|bytes| of(bytes).memory_bytes);
    assert!(least < more && more < most && most < least + 2048 * (MOST_FRAMES + SLICE_EVENTS));
}

const ECHO: &str = r#"{
    "workload": "echo", "ip_version": 4, "reply_size_bytes": 700,
    "spec": {
        "transport": "tcp", "message_size_bytes": 500, "amount": {"requests": 10},
        "timeout_ns": 1000000000, "warmup_ns": 0, "outstanding_requests": 12,
        "silence_ns": 1000000000
    }
}"#;

#[test]
fn memory_covers_the_world_its_nodes_and_programs() {
    let machines = r#"[
        {"receive_buffer_bytes": 1000, "send_buffer_bytes": 20000, "tcp": {"window_bytes": 9000}},
        {"receive_buffer_bytes": 3000, "send_buffer_bytes": 30000, "tcp": {"window_bytes": 8400}}
    ]"#;
    let of_nodes = |changes: &[(&str, &str)]| {
        let request = request(changes);
        let checked = check(&request).unwrap();
        checked.cost.memory_bytes - world_plan(&request, checked.medium).memory_bytes(MOST_FRAMES)
    };
    // Twice both buffers and both windows, four messages, and meters of 1 MiB.
    let stream_bytes = 2 * (1_000 + 20_000 + 18_000) + 2 * (3_000 + 30_000 + 16_800) + 2 * 4 * 500;
    assert_eq!(of_nodes(&[("/world/machines", machines)]), stream_bytes + 2 * 1_048_576);
    // The reply is the longer message, and 12 requests of 32 bytes are in flight.
    let echo_bytes = stream_bytes + 2 * 4 * 200 + 2 * 12 * 32;
    let echo = [("/world/machines", machines), ("/work", ECHO)];
    assert_eq!(of_nodes(&echo), echo_bytes + 2 * 1_048_576);
}

#[test]
fn world_limits_are_inclusive() {
    for (path, last, beyond) in [
        ("/world/medium/switch_queue_bytes", "16777216", "16777217"),
        ("/world/machines/0/receive_buffer_bytes", "16777216", "16777217"),
        ("/world/machines/0/send_buffer_bytes", "16777216", "16777217"),
        ("/world/machines/0/tcp/window_bytes", "1048576", "1048577"),
        ("/world/machines/0/tcp/window_bytes", "536", "535"),
        ("/world/machines/0/tcp/delayed_ack_ns", "500000000", "499999999"),
        ("/world/machines/0/tcp/mss_bytes", "1460", "1461"),
        ("/work/spec/message_size_bytes", "1472", "1473"),
    ] {
        assert!(asked(&[(path, last)]).is_ok(), "{path}: {last}");
        let failure = asked(&[(path, beyond)]).unwrap_err();
        let key = path.rsplit('/').next().unwrap();
        assert!(failure.message.contains(key), "{path}: {failure}");
    }
    let over_6 = |path, value| asked(&[("/work/ip_version", "6"), (path, value)]).is_ok();
    let mss = "/world/machines/0/tcp/mss_bytes";
    assert!(over_6(mss, "1440") && !over_6(mss, "1441"));
    let size = "/work/spec/message_size_bytes";
    assert!(over_6(size, "1452") && !over_6(size, "1453"));
}

#[test]
fn tcp_data_in_flight_fits_the_smallest_window_or_buffer() {
    // 12 replies of 700 bytes are 8400.
    let window =
        |bytes: &str| asked(&[("/work", ECHO), ("/world/machines/1/tcp/window_bytes", bytes)]);
    assert!(window("8400").is_ok());
    let failure = window("8399").unwrap_err();
    let message = "`work.spec.outstanding_requests`: found 12; allowed: 8399 bytes in all over tcp";
    assert!(failure.message.starts_with(message), "{failure}");
}
