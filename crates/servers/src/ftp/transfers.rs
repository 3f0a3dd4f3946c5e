//! Data connections of a dialogue, and the files and listings sent over them.

use std::io;
use std::net::{IpAddr, SocketAddr};

use lanlab_served::{Confined, Found, Names};

use super::dialogue::{Answer, Awaited, Dialogue, say};
use super::files::{self, Form};
use super::line_ends::LineEnds;
use super::moving::{self, Broken};
use super::system::{Listing, System, Way};

/// Bytes of a listing collected before sending.
const LISTING_BLOCK: usize = 1 << 12;

/// The lowest port accepted for active mode; lower ones belong to services (RFC 2577, section 3).
const FIRST_PORT: u16 = 1024;

impl<S: System> Dialogue<S> {
    pub(super) fn listen(&mut self, verb: &str, argument: &str) -> Answer {
        if verb == "EPSV" && argument.eq_ignore_ascii_case("ALL") {
            self.only_epsv = true;
            return say(200, "EPSV it is");
        }
        if verb == "PASV" && self.only_epsv {
            return say(503, "EPSV ALL was agreed on");
        }
        let here = self.here()?;
        let address = here.ip().to_canonical();
        if verb == "EPSV" && !argument.is_empty() && argument != family(address) {
            return say(522, format!("Not that protocol, use ({})", family(address)));
        }
        let port = match &self.passive {
            Some((listener, port)) => {
                self.system.turn_away(listener);
                *port
            }
            None => self.passive.insert(self.system.listen(here)?).1,
        };
        self.awaited = Some(Awaited::Passive);
        if verb == "EPSV" {
            return say(229, format!("Come in (|||{port}|)"));
        }
        match address {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                say(227, format!("Come in ({a},{b},{c},{d},{},{})", port >> 8, port & 0xff))
            }
            IpAddr::V6(_) => say(522, "EPSV is what there is over IPv6"),
        }
    }

    /// The client listens: only at its own address, so that no client can make us connect elsewhere.
    pub(super) fn connect_later(&mut self, verb: &str, argument: &str) -> Answer {
        if self.only_epsv {
            return say(503, "EPSV ALL was agreed on");
        }
        let client = self.client.ip().to_canonical();
        let named =
            if verb == "PORT" { files::of_port(argument) } else { files::of_eprt(argument) };
        let Some(named) = named else {
            return say(501, format!("{verb} takes an address and a port"));
        };
        if named.is_ipv4() != client.is_ipv4() {
            return say(522, format!("Not that protocol, use ({})", family(client)));
        }
        if named.ip() != client || named.port() < FIRST_PORT {
            self.system.refused("a data connection to another address, or to a port below 1024");
            return say(504, "Data go to your own address, and to ports from 1024 on");
        }
        self.awaited = Some(Awaited::Active(named.port()));
        say(200, "There, then")
    }

    async fn connection(&mut self, way: Way) -> io::Result<Option<S::Wire>> {
        let Some(awaited) = self.awaited.take() else { return Ok(None) };
        if self.system.has_tls() && !self.protected {
            return Ok(None);
        }
        self.reply(150, "Here it goes").await?;
        let client = self.client.ip();
        match (awaited, &self.passive) {
            (Awaited::Passive, Some((listener, _))) => {
                Ok(self.system.accept(listener, client, way).await.ok())
            }
            (Awaited::Passive, None) => Ok(None),
            (Awaited::Active(port), _) => {
                let to = SocketAddr::new(client, port);
                let here = self.here()?;
                Ok(self.system.connect(here, to, way).await.ok())
            }
        }
    }

    pub(super) async fn retrieve(&mut self, path: &str, offset: u64) -> Answer {
        if self.is_text && offset > 0 {
            return no_restart();
        }
        let file = self.system.open(&self.names(path)?).await?;
        let Some(mut wire) = self.connection(Way::Out).await? else { return no_connection() };
        let ends = self.is_text.then(LineEnds::default);
        let sent = moving::send(&self.system, &mut wire, &file, offset, ends).await;
        self.closed(sent, file).await
    }

    pub(super) async fn store(&mut self, path: &str, offset: u64, append: bool) -> Answer {
        if self.is_text && offset > 0 {
            return no_restart();
        }
        let truncate = offset == 0 && !append;
        let (file, size_bytes) = self.system.open_to_write(&self.names(path)?, truncate).await?;
        let offset = if append { size_bytes } else { offset };
        let Some(mut wire) = self.connection(Way::In).await? else { return no_connection() };
        let ends = self.is_text.then(LineEnds::default);
        let mut received = moving::receive(&self.system, &mut wire, &file, offset, ends).await;
        // A killed client's system ends the data like a whole upload, but ends the dialogue, too.
        if received.is_ok() && self.is_gone(&file).await {
            received = Err(Broken::Connection);
        }
        self.closed(received, file).await
    }

    async fn closed(&self, moved: Result<(), Broken>, file: S::File) -> Answer {
        let closed = self.system.close(file, moved.is_ok()).await.map_err(Broken::File);
        ending(moved.and(closed))
    }

    pub(super) async fn list(&mut self, path: &str, form: Form) -> Answer {
        let (mut entries, before) = self.found(path, form).await?;
        let Some(mut wire) = self.connection(Way::Out).await? else { return no_connection() };
        let now_s = self.system.now_s();
        loop {
            let text = block(&mut entries, form, &before, now_s)?;
            if text.is_empty() {
                break;
            }
            let sent = moving::send_octets(&self.system, &mut wire, text.as_bytes()).await;
            if sent.is_err() {
                return ending(sent);
            }
        }
        ending(moving::end(&self.system, &mut wire).await)
    }

    pub(super) async fn list_here(&mut self, path: &str) -> Answer {
        let (mut entries, _) = self.found(path, Form::Long).await?;
        self.lines()?.send("213-Listing:\r\n").await?;
        let now_s = self.system.now_s();
        loop {
            let text = match block(&mut entries, Form::Long, " ", now_s) {
                Ok(text) => text,
                Err(error) => return say(213, format!("Not all of it: {error}")),
            };
            if text.is_empty() {
                return say(213, "End");
            }
            self.lines()?.send(&text).await?;
        }
    }

    /// What a path denotes: a directory's entries, a file, or all matches of a pattern; and the
    /// prefix with which the client can request each match.
    async fn found(&self, path: &str, form: Form) -> io::Result<(Listing, String)> {
        let names = Confined::names(&self.directory, path)?;
        if form == Form::Facts {
            return Ok((self.system.list(&names).await?, String::new()));
        }
        match self.system.look(&names).await {
            Ok(found) if found.is_directory => Ok((self.system.list(&names).await?, String::new())),
            Ok(found) => Ok((Box::new(std::iter::once(Ok(found))), before(path, form))),
            Err(_) if path.contains(['*', '?']) => {
                Ok((self.matching(&names).await?, before(path, form)))
            }
            Err(error) => Err(error),
        }
    }

    async fn matching(&self, names: &Names) -> io::Result<Listing> {
        let Some((pattern, directory)) = names.split_last() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let entries = self.system.list(&directory.to_vec()).await?;
        let pattern = pattern.clone();
        let is_match = move |found: &io::Result<Found>| {
            found.as_ref().ok().is_none_or(|found| files::matches(&pattern, &found.name))
        };
        let mut matching = entries.filter(is_match).peekable();
        if matching.peek().is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Box::new(matching))
    }
}

fn block(entries: &mut Listing, form: Form, before: &str, now_s: u64) -> io::Result<String> {
    let mut text = String::new();
    while text.len() < LISTING_BLOCK {
        let Some(found) = entries.next() else { break };
        text.push_str(before);
        text.push_str(&files::line(form, &found?, now_s));
    }
    Ok(text)
}

fn before(path: &str, form: Form) -> String {
    let end = path.rfind('/').filter(|_| form == Form::Names).map_or(0, |at| at + 1);
    path[..end].to_owned()
}

/// Number of an address family (RFC 2428, section 2).
fn family(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "1" } else { "2" }
}

fn no_connection() -> Answer {
    say(425, "No data connection: EPSV, PASV or PORT (and PROT P over TLS) comes first")
}

fn no_restart() -> Answer {
    say(504, "REST needs TYPE I")
}

fn ending(moved: Result<(), Broken>) -> Answer {
    match moved {
        Ok(()) => say(226, "That is all of it"),
        Err(Broken::Connection) => say(426, "The data connection broke"),
        Err(Broken::File(error)) => Err(error),
    }
}
