//! The engine as a driver sees it: the built binary, driven by lines of JSON.

mod driver;

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use driver::Engine;
use serde_json::{Value, json};

const SESSION: &str = "000102030405060708090a0b0c0d0e0f";

fn stream_spec(transport: &str) -> Value {
    json!({
        "transport": transport,
        "message_size_bytes": 500,
        "amount": {"messages": 50},
        "rate": {"messages_per_s": 2000.0},
        "flows": 2,
        "io": "auto",
        "socket": {"nodelay": true, "dscp": 10},
        "warmup_ns": 20_000_000,
        "interval_ns": 10_000_000,
        "silence_ns": 30_000_000_000_u64,
    })
}

fn echo_spec(transport: &str) -> Value {
    json!({
        "transport": transport,
        "message_size_bytes": 64,
        "amount": {"requests": 20},
        "timeout_ns": 10_000_000_000_u64,
        "warmup_ns": 0,
        "silence_ns": 30_000_000_000_u64,
    })
}

fn with(kind: &str, spec: &Value, keys: Value) -> Value {
    let mut request = json!({"type": kind, "spec": spec, "peer": "127.0.0.1", "bind": "127.0.0.1", "session": SESSION});
    let Value::Object(keys) = keys else { panic!("not an object") };
    request.as_object_mut().unwrap().extend(keys);
    request
}

/// Arm target and source for the same time, wait for both, give both results.
fn run(ends: [(&mut Engine, u64); 2]) -> (Value, Value) {
    let [target, source] = ends;
    for (engine, id) in [(&mut *target.0, target.1), (&mut *source.0, source.1)] {
        engine.begin(id);
    }
    let source_line = source.0.wait(source.1);
    let target_line = target.0.wait(target.1);
    assert_eq!(source_line["type"], "result", "{source_line}");
    assert_eq!(target_line["type"], "result", "{target_line}");
    (target_line["result"].clone(), source_line["result"].clone())
}

#[test]
fn hello_states_versions_and_capabilities() {
    let engine = Engine::start();
    assert_eq!(engine.hello["type"], "hello");
    assert_eq!(engine.hello["schema_version"], 9);
    assert_eq!(engine.hello["engine_version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(engine.hello["pid"], engine.process.id());
    assert!(engine.hello["capabilities"]["batch"].is_boolean());
    assert_eq!(engine.end(), Some(0));
}

#[test]
fn simple_questions_are_answered() {
    let mut engine = Engine::start();
    let facts = engine.result(&json!({"type": "describe"}));
    assert_eq!(facts["kind"], "description");
    assert_eq!(facts["system"], std::env::consts::OS);
    let pongs: Vec<_> = (0..2).map(|_| engine.result(&json!({"type": "ping"}))).collect();
    assert!(pongs[0]["monotonic_ns"].as_u64() < pongs[1]["monotonic_ns"].as_u64());
}

#[test]
fn a_stream_goes_from_one_engine_to_another() {
    for transport in ["udp", "tcp"] {
        let (mut target, mut source) = (Engine::start(), Engine::start());
        let spec = stream_spec(transport);
        let (receiving, ready) = target.ready(&with("stream_receive", &spec, json!({"port": 0})));
        let ports = ready["ports"].clone();
        assert_eq!(ports.as_array().unwrap().len(), if transport == "udp" { 2 } else { 1 });
        let (sending, ready) = source.ready(&with("stream_send", &spec, json!({"ports": ports})));
        assert_eq!(ready["ports"], json!([]));
        assert!(ready["setup_round_trip_ns"].as_u64().unwrap() > 0);
        let (received, sent) = run([(&mut target, receiving), (&mut source, sending)]);
        assert_eq!(
            (&received["kind"], &sent["kind"]),
            (&json!("stream_received"), &json!("stream_sent"))
        );
        assert_eq!(
            (&received["ended_by"], &sent["ended_by"]),
            (&json!("finished"), &json!("finished"))
        );
        // After up to 40 messages of warm-up, fewer or none if this machine was late.
        assert_eq!(sent["sent_messages"], 50);
        let total = sent["total_messages"].as_u64().unwrap();
        assert!((50..=90).contains(&total), "{total}");
        assert_eq!(received["total_bytes"], total * 500);
        assert_eq!(sent["flows"].as_array().unwrap().len(), 2);
        if transport == "udp" {
            assert_eq!(received["measured_messages"], 50);
        }
    }
}

#[test]
fn an_echo_is_answered() {
    for transport in ["udp", "tcp"] {
        let (mut target, mut source) = (Engine::start(), Engine::start());
        let spec = echo_spec(transport);
        let (responding, ready) = target.ready(&with("echo_respond", &spec, json!({})));
        let port = ready["ports"][0].clone();
        let (requesting, _) = source.ready(&with("echo_request", &spec, json!({"port": port})));
        let (responded, requested) = run([(&mut target, responding), (&mut source, requesting)]);
        assert_eq!(responded["answered_messages"], 20);
        assert_eq!((&requested["replies"], &requested["timeouts"]), (&json!(20), &json!(0)));
        assert_eq!(requested["round_trip"]["samples"], 20);
        assert_eq!(requested["tcp"].is_object(), transport == "tcp");
        assert!(requested["round_trip"]["min_ns"].as_u64().unwrap() > 0);
    }
}

#[test]
fn echo_results_include_host_activity() {
    let (mut target, mut source) = (Engine::start(), Engine::start());
    let mut spec = echo_spec("udp");
    // Long enough that the host is looked at before its end, on a busy machine too.
    spec["amount"] = json!({"time_ns": 300_000_000});
    let (responding, ready) = target.ready(&with("echo_respond", &spec, json!({})));
    let port = ready["ports"][0].clone();
    let (requesting, _) = source.ready(&with("echo_request", &spec, json!({"port": port})));
    let (_, requested) = run([(&mut target, responding), (&mut source, requesting)]);
    assert!(requested["host"].is_object(), "{requested}");
}

#[test]
fn a_request_is_cancelled() {
    let mut engine = Engine::start();
    let (id, _) = engine.ready(&with("stream_receive", &stream_spec("udp"), json!({})));
    let cancelled = engine.result(&json!({"type": "cancel", "target": id}));
    assert_eq!(cancelled, json!({"kind": "cancelled", "target": id}));
    let error = engine.wait(id);
    assert_eq!((&error["type"], &error["code"]), (&json!("error"), &json!("cancelled")));
}

#[test]
fn errors_have_a_code_a_message_and_a_hint() {
    let mut engine = Engine::start();
    let error = engine.ask(&json!({"type": "arm", "target": 77, "at_ns": 1}));
    assert_eq!(
        error,
        json!({
            "type": "error", "id": 1, "code": "request.unknown_target",
            "message": "no request 77 is running", "hint": null, "partial": null,
        })
    );
    engine.send_text("{\"id\": 5, \"request\": {\"type\": \"ping\", \"more\": 1}}");
    let error = engine.wait(5);
    assert_eq!(error["code"], "request.malformed");
    assert!(error["message"].as_str().unwrap().contains("unknown field `more`"), "{error}");
    let mut spec = stream_spec("udp");
    spec["flows"] = json!(1001);
    let error = engine.ask(&with("stream_receive", &spec, json!({})));
    assert_eq!(error["message"], "`flows`: found 1001; allowed: 1 to 1000");
}

fn output_of(arguments: &[&str]) -> (Option<i32>, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_lanlab-engine")).args(arguments).output().unwrap();
    let text = |octets: Vec<u8>| String::from_utf8(octets).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn the_schema_names_every_form_of_request() {
    let (code, schema, _) = output_of(&["schema"]);
    assert_eq!(code, Some(0));
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let requests = schema["$defs"]["Request"]["oneOf"].as_array().unwrap();
    let mut names: Vec<_> =
        requests.iter().map(|each| each["properties"]["type"]["const"].as_str().unwrap()).collect();
    names.sort_unstable();
    let known = [
        "arm",
        "cancel",
        "carry_frames",
        "copy",
        "copy_check",
        "copy_empty",
        "copy_prepare",
        "dataset",
        "describe",
        "drop_caches",
        "echo_request",
        "echo_respond",
        "list_places",
        "listen",
        "measure_room",
        "metadata",
        "metadata_empty",
        "metadata_prepare",
        "path_mtu_answer",
        "path_mtu_probe",
        "peer_echo",
        "peer_serve",
        "peer_stream",
        "ping",
        "read_hosts",
        "read_medium",
        "ready_memory",
        "resolve",
        "serve",
        "set_up_hosts",
        "simulate",
        "stations",
        "stations_empty",
        "stations_prepare",
        "stream_receive",
        "stream_send",
        "trial_directory",
    ];
    assert_eq!(names, known);
}

#[test]
fn other_arguments_are_handled_or_refused() {
    let version = concat!("lanlab-engine ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(output_of(&["--version"]), (Some(0), version.to_owned(), String::new()));
    let (code, help, _) = output_of(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(help.contains("lanlab-engine schema"));
    let (code, out, error) = output_of(&["dance"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(error.starts_with("error: unknown arguments: `dance`"), "{error}");
    let (code, _, error) = output_of(&["offloads", "--device", "no-such-device"]);
    assert_eq!(code, Some(1));
    assert!(error.starts_with("error: offloads of `no-such-device`: "), "{error}");
}

/// However many connections were asked for: who has logged in is none of them.
#[test]
fn silent_smb_connections_beyond_256_make_room() {
    let root = tempfile::TempDir::new().unwrap();
    let mut engine = Engine::start();
    let (_, ready) = engine.ready(&json!({
        "type": "serve", "service": "smb", "root": root.path().canonicalize().unwrap(),
        "bind": "127.0.0.1", "connections": 300,
    }));
    let port = u16::try_from(ready["ports"][0].as_u64().unwrap()).unwrap();
    let taken: Vec<_> =
        (0..400).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    for connection in &taken {
        connection.set_nonblocking(true).unwrap();
    }
    // One that is not admitted, or makes room for another, is closed.
    let is_open = |mut connection: &TcpStream| {
        let read = connection.read(&mut [0]);
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    let count = || taken.iter().filter(|connection| is_open(connection)).count();
    let deadline = Instant::now() + Duration::from_secs(9);
    while count() > 256 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(count(), 256);
}
