//! What a driver says.

use std::io::{BufReader, Cursor};

use crate::cost::{MOST_MEMORY_BYTES, MOST_THREADS};
use crate::driver::{Line, Wanted, read_line, understand};
use crate::messages::{Failed, MAX_LINE_BYTES, MAX_REPLY_BYTES, Reply};

/// For any input of a driver, every line is understood and within bounds, or refused in a sentence of
/// bounded length; the memory kept for a line is bounded, too. No request is begun.
///
/// # Panics
/// If that does not hold.
pub fn engine_line(octets: &[u8]) {
    let mut input = BufReader::with_capacity(512, Cursor::new(octets));
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line).expect("a slice can always be read") {
            Line::End => return,
            Line::TooLong => {}
            Line::Whole => {
                assert!(line.len() <= MAX_LINE_BYTES);
                match understand(&line) {
                    Ok((_, Wanted::Answer(_))) => {}
                    Ok((_, Wanted::Task(task))) => {
                        assert!(task.cost.memory_bytes <= MOST_MEMORY_BYTES);
                        assert!(task.cost.threads <= MOST_THREADS);
                    }
                    Err((id, failure)) => {
                        let reply = Reply::Error(Failed {
                            id,
                            code: failure.code.into(),
                            message: failure.message,
                            hint: failure.hint,
                            partial: None,
                        });
                        let text = serde_json::to_vec(&reply).expect("it can be written");
                        assert!(text.len() < MAX_REPLY_BYTES / 8, "{} bytes", text.len());
                    }
                }
            }
        }
        assert!(line.capacity() <= 4 * MAX_LINE_BYTES, "{} kept", line.capacity());
    }
}
