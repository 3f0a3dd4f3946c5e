//! What a server of FTP says.

use lanlab_connections::Lines;
use lanlab_connections::scripted::{Feed, Pieces, at_once};
use lanlab_files::{Class, Entry, Fault, is_name};

use crate::ftp::control::read_reply;
use crate::ftp::listing;
use crate::ftp::login::quoted;
use crate::ftp::reply::{self, Reply};

/// Octets of a server's words in an error, with all that is said of them.
const MAX_MESSAGE_CHARACTERS: usize = 1000;

/// Any answers and listings of a server: the same answers however they are cut, of bounded length;
/// words that a terminal may show; entries of which each has a name. A `line` of our own
/// server about the same is read as the same.
///
/// # Panics
/// If that does not hold.
pub fn ftp_answers(octets: &[u8], line: fn(is_long: bool, &Entry) -> String) {
    let mut feed = Feed::new(octets);
    let size = 1 + usize::from(feed.u8());
    let said = feed.rest();

    let whole = replies(said, usize::MAX);
    assert_eq!(whole, replies(said, size), "in pieces of {size}");
    let (replies, end) = whole;
    assert!(is_shown(&end), "{end:?}");
    for reply in &replies {
        assert!((100..600).contains(&reply.code) && !reply.lines.is_empty());
        assert!(reply.lines.iter().map(String::len).sum::<usize>() <= 3 * said.len());
        assert!(is_shown(&reply.fault("RETR x", Class::Missing)));
    }

    let text = String::from_utf8_lossy(said);
    for line in text.lines() {
        places(line);
    }
    for read in [listing::mlsd, listing::list] {
        match read(&text) {
            Ok(entries) => listed(&entries, line),
            Err(fault) => assert!(is_shown(&fault), "{fault:?}"),
        }
    }
}

fn replies(said: &[u8], size: usize) -> (Vec<Reply>, Fault) {
    let mut lines = Lines::new(Pieces::new(said, size));
    let mut replies = Vec::new();
    loop {
        match at_once(read_reply("x", &mut lines)) {
            Ok(reply) => replies.push(reply),
            Err(end) => return (replies, end),
        }
    }
}

fn is_shown(fault: &Fault) -> bool {
    fault.message.chars().count() <= MAX_MESSAGE_CHARACTERS
        && !fault.message.contains(char::is_control)
}

/// Ports, addresses and directories in the words of an answer.
fn places(words: &str) {
    let _ = reply::parse(words);
    if let Some(port) = reply::epsv_port(words) {
        assert_eq!(reply::epsv_port(&format!("Come in (|||{port}|)")), Some(port));
    }
    if let Some(port) = reply::pasv_port(words) {
        let again = format!("Come in (10,0,0,7,{},{})", port >> 8, port & 0xff);
        assert_eq!(reply::pasv_port(&again), Some(port));
    }
    if let Some(name) = quoted(words) {
        assert!(!name.contains(char::is_control), "it goes into a command");
        let again = format!("\"{}\" is where you are", name.replace('"', "\"\""));
        assert_eq!(quoted(&again), Some(name));
    }
}

fn listed(entries: &[Entry], line: fn(bool, &Entry) -> String) {
    assert!(entries.iter().all(|entry| is_name(&entry.name)), "{entries:?}");
    let written = |is_long| entries.iter().map(|entry| line(is_long, entry)).collect::<String>();
    assert_eq!(listing::mlsd(&written(false)).as_deref(), Ok(entries));
    assert_eq!(listing::list(&written(true)).as_deref(), Ok(entries));
}
