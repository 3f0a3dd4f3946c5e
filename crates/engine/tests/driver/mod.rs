//! The built binary, driven by lines of JSON.

#![allow(dead_code, reason = "each test binary uses what it needs of it")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub struct Engine {
    pub process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    pub hello: Value,
    next_id: u64,
    /// Lines of other requests than the one that was waited for.
    kept: Vec<Value>,
    /// Times of files that were reported.
    pub files: Vec<Value>,
}

impl Engine {
    pub fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_lanlab-engine"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut engine = Self {
            process,
            input,
            output,
            hello: Value::Null,
            next_id: 1,
            kept: Vec::new(),
            files: Vec::new(),
        };
        engine.hello = engine.line();
        engine
    }

    pub fn line(&mut self) -> Value {
        let mut text = String::new();
        self.output.read_line(&mut text).unwrap();
        assert!(text.ends_with('\n'), "the engine has ended: {text:?}");
        serde_json::from_str(&text).unwrap()
    }

    pub fn send_text(&mut self, text: &str) {
        writeln!(self.input.as_mut().unwrap(), "{text}").unwrap();
    }

    pub fn send(&mut self, request: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send_text(&json!({"id": id, "request": request}).to_string());
        id
    }

    /// The next line of request `id` that is neither progress nor samples of TCP. Requests end in any order.
    pub fn wait(&mut self, id: u64) -> Value {
        if let Some(index) = self.kept.iter().position(|line| line["id"] == id) {
            return self.kept.remove(index);
        }
        loop {
            let line = self.line();
            if line["type"] == "progress" || line["type"] == "tcp_samples" {
                continue;
            }
            if line["type"] == "copied_files" {
                self.files.push(line);
                continue;
            }
            if line["id"] == id {
                return line;
            }
            self.kept.push(line);
        }
    }

    pub fn ask(&mut self, request: &Value) -> Value {
        let id = self.send(request);
        loop {
            let line = self.wait(id);
            if line["type"] != "ready" {
                return line;
            }
        }
    }

    pub fn result(&mut self, request: &Value) -> Value {
        let line = self.ask(request);
        assert_eq!(line["type"], "result", "{line}");
        line["result"].clone()
    }

    /// Start a measurement; its id and what its `ready` says.
    pub fn ready(&mut self, request: &Value) -> (u64, Value) {
        let id = self.send(request);
        let line = self.wait(id);
        assert_eq!(line["type"], "ready", "{line}");
        (id, line)
    }

    /// Let a measurement that is ready begin soon; with more lead where this machine was late.
    pub fn begin(&mut self, id: u64) {
        for lead_ns in [200_000_000, 2_000_000_000, 20_000_000_000] {
            // On its own clock: not every system has one that processes share.
            let now_ns = self.result(&json!({"type": "ping"}))["monotonic_ns"].as_u64().unwrap();
            let arm = json!({"type": "arm", "target": id, "at_ns": now_ns + lead_ns});
            let line = self.ask(&arm);
            if line["code"] != "arm.late" {
                assert_eq!(line["result"]["kind"], "armed", "{line}");
                assert!(line["result"]["margin_ns"].as_u64().unwrap() <= lead_ns);
                return;
            }
        }
        panic!("late with a lead of 20 s");
    }

    pub fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}
