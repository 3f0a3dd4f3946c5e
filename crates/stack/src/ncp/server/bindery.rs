//! Logins, and the bindery objects of a server: its user and itself.

use lanlab_wire::ncp::bindery::{
    self, Access, KEY_LEN, Logged, NAME_LEN, NO_OBJECT, Object, SEGMENT_LEN, ScannedProperty,
    object,
};
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::negotiation::{Moment, ServerInformation};
use lanlab_wire::ncp::text::padded;
use md5::{Digest, Md5};

use super::dispatch::moment;
use super::refusals::{Refused, malformed};
use super::state::State;
use crate::file_server::Remark;
use crate::ncp::keyed;

const USER: u32 = 0x0001_0001;
const SERVER: u32 = 0x0001_0002;
/// Objects can be read by logged-in users and never changed.
const SECURITY: u8 = 0x31;
const USER_ACCESS: u8 = 0x22;
const FULL_NAME: &[u8] = b"IDENTIFICATION";
const MOST_CONNECTIONS: u16 = 254;

impl State {
    pub fn say_information(&mut self) {
        let (version, subversion) = self.offer.netware.version;
        let information = ServerInformation {
            name: padded(self.offer.name.to_ascii_uppercase().as_bytes()),
            version,
            subversion,
            most_connections: MOST_CONNECTIONS,
            connections: 1,
            most_volumes: 1,
            revision: 0,
            fault_tolerance: 1,
            transactions: 0,
            peak_connections: 1,
            parts: [0; 9],
            reserved: [[0; 8]; 7],
            reserved_end: [0; 2],
        };
        information.emit(&mut self.head);
    }

    fn number(&self, kind: u16, name: &[u8]) -> Option<u32> {
        let is_user = kind == object::USER
            && self.offer.user.as_ref().is_none_or(|user| is_alike(name, &user.name));
        let is_server = kind == object::FILE_SERVER && is_alike(name, &self.offer.name);
        match (is_user, is_server) {
            (true, _) => Some(USER),
            (_, true) => Some(SERVER),
            _ => None,
        }
    }

    fn object(&self, number: u32) -> Option<Object> {
        let (kind, name) = match number {
            USER => (object::USER, self.offer.user.as_ref().map_or("GUEST", |user| &user.name)),
            SERVER => (object::FILE_SERVER, self.offer.name.as_str()),
            _ => return None,
        };
        let name = padded(name.to_ascii_uppercase().as_bytes());
        Some(Object { number, kind, name })
    }

    pub fn object_id(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = bindery::Named::parse(data).map_err(malformed)?;
        let number = self.number(asked.kind, asked.name.0).ok_or(completion::NO_SUCH_OBJECT)?;
        let name = padded(&asked.name.0.to_ascii_uppercase());
        Object { number, kind: asked.kind, name }.emit(&mut self.head);
        Ok(())
    }

    pub fn object_name(&mut self, data: &[u8]) -> Result<(), Refused> {
        let number = data.first_chunk().map(|octets| u32::from_be_bytes(*octets));
        let number = number.ok_or(completion::BAD_PACKET)?;
        let found = self.object(number).ok_or(completion::NO_SUCH_OBJECT)?;
        found.emit(&mut self.head);
        Ok(())
    }

    pub fn scan_objects(&mut self, data: &[u8]) -> Result<(), Refused> {
        let scan = bindery::Scan::parse(data).map_err(malformed)?;
        let after = if scan.after == NO_OBJECT { 0 } else { scan.after };
        let is_asked = |found: &Object| {
            let name = lanlab_wire::ncp::text::unpadded(&found.name);
            let is_name = scan.name.0 == b"*" || scan.name.0.eq_ignore_ascii_case(name);
            found.number > after && is_name && [found.kind, object::ANY].contains(&scan.kind)
        };
        let found =
            [USER, SERVER].into_iter().filter_map(|number| self.object(number)).find(is_asked);
        let Object { number, kind, name } = found.ok_or(completion::NO_SUCH_OBJECT)?;
        let has_properties = if number == USER { 0xff } else { 0 };
        let (is_dynamic, security) = (0, SECURITY);
        bindery::Scanned { number, kind, name, is_dynamic, security, has_properties }
            .emit(&mut self.head);
        Ok(())
    }

    pub fn say_logged(&mut self) {
        let known = self.logged_in_at.and_then(|ticks| Some((self.object(USER)?, ticks)));
        let logged = known.map(|(Object { number, kind, name }, ticks)| {
            let Moment { year, month, day, hour, minute, second, weekday } = moment(ticks);
            let since = [year, month, day, hour, minute, second, weekday];
            Logged { number, kind, name, since, reserved: 0 }
        });
        let none = Logged { number: 0, kind: 0, name: [0; NAME_LEN], since: [0; 7], reserved: 0 };
        logged.unwrap_or(none).emit(&mut self.head);
    }

    pub fn say_access(&mut self) {
        let (level, number) = if self.is_logged_in { (USER_ACCESS, USER) } else { (0, NO_OBJECT) };
        Access { level, number }.emit(&mut self.head);
    }

    /// The user's only property: the full name, which equals the user name here.
    fn check_property(&self, (kind, name): (u16, &[u8]), property: &[u8]) -> Result<(), Refused> {
        let number = self.number(kind, name).ok_or(completion::NO_SUCH_OBJECT)?;
        let is_meant = property == b"*" || property.eq_ignore_ascii_case(FULL_NAME);
        if number == USER && is_meant { Ok(()) } else { Err(completion::NO_SUCH_PROPERTY) }
    }

    pub fn read_property(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = bindery::ReadProperty::parse(data).map_err(malformed)?;
        self.check_property((asked.kind, asked.name.0), asked.property.0)?;
        if asked.segment != 1 {
            return Err(completion::NO_SUCH_SEGMENT);
        }
        let value: [u8; SEGMENT_LEN] = padded(&asked.name.0.to_ascii_uppercase());
        self.head.extend_from_slice(&value);
        // No more segments; a static item.
        self.head.extend_from_slice(&[0, 0]);
        Ok(())
    }

    pub fn scan_properties(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = bindery::ScanProperties::parse(data).map_err(malformed)?;
        self.check_property((asked.kind, asked.name.0), asked.property.0)?;
        if asked.after != NO_OBJECT {
            return Err(completion::NO_SUCH_PROPERTY);
        }
        let (name, security, instance) = (padded(FULL_NAME), SECURITY, 1);
        ScannedProperty { name, flags: 0, security, instance, has_value: 0xff, has_more: 0 }
            .emit(&mut self.head);
        Ok(())
    }

    pub fn log_in(&mut self, data: &[u8]) -> Result<(), Refused> {
        let login = bindery::PlainLogin::parse(data).map_err(malformed)?;
        let proves = |state: &Self| match &state.offer.user {
            Some(user) => is_alike(login.password.0, &user.password),
            None => true,
        };
        let is_right = login.kind == object::USER
            && self.number(login.kind, login.name.0).is_some()
            && proves(self);
        self.logged_in(login.name.0, is_right)
    }

    pub fn give_key(&mut self) -> Result<(), Refused> {
        if !self.offer.netware.has_keyed_logins {
            return Err(completion::UNSUPPORTED);
        }
        self.keys += 1;
        let hash = Md5::new().chain_update(self.challenge).chain_update(self.keys.to_le_bytes());
        let key = hash.finalize().first_chunk::<KEY_LEN>().copied().unwrap_or_default();
        self.head.extend_from_slice(&key);
        self.key = Some(key);
        Ok(())
    }

    pub fn log_in_keyed(&mut self, data: &[u8]) -> Result<(), Refused> {
        let login = bindery::KeyedLogin::parse(data).map_err(malformed)?;
        // A key is valid for one attempt, so that eavesdroppers cannot replay it.
        let key = self.key.take().ok_or(completion::FAILED)?;
        let number = self.number(login.kind, login.name.0).filter(|_| login.kind == object::USER);
        let is_right = number.is_some_and(|number| match &self.offer.user {
            Some(user) => keyed::proof(number, &user.password, key) == login.proof,
            None => true,
        });
        self.logged_in(login.name.0, is_right)
    }

    fn logged_in(&mut self, name: &[u8], is_right: bool) -> Result<(), Refused> {
        let (user, dialect) = (Some(String::from_utf8_lossy(name).into_owned()), "NCP");
        if !is_right {
            self.channel.remark(Remark::WrongPassword { user, dialect });
            return Err(completion::FAILED);
        }
        self.is_logged_in = true;
        self.logged_in_at = Some(self.ticks());
        self.channel.remark(Remark::Admitted { user, dialect });
        Ok(())
    }
}

fn is_alike(found: &[u8], expected: &str) -> bool {
    found.eq_ignore_ascii_case(expected.as_bytes())
}
