//! Users and other objects of a server, and logins.

use super::text::{Name, messages};

pub mod object {
    pub const USER: u16 = 0x0001;
    pub const FILE_SERVER: u16 = 0x0004;
    pub const ANY: u16 = 0xffff;
}

/// An invalid object number, with which a scan starts.
pub const NO_OBJECT: u32 = 0xffff_ffff;
pub const NAME_LEN: usize = 48;
/// Length of a property's name, and of a segment of its value.
pub const PROPERTY_LEN: usize = 16;
pub const SEGMENT_LEN: usize = 128;
/// Length of a key, and of the response computed with it.
pub const KEY_LEN: usize = 8;

messages! {
    PlainLogin<'a>, "ncp login" => {
        kind: u16,
        name: Name<'a>,
        password: Name<'a>,
    }

    /// Login with a response computed from the password and the server's key.
    KeyedLogin<'a>, "ncp keyed login" => {
        proof: [u8; KEY_LEN],
        kind: u16,
        name: Name<'a>,
    }

    Named<'a>, "ncp object" => {
        kind: u16,
        name: Name<'a>,
    }

    /// Request for the next object that matches a name, which may contain `*`.
    Scan<'a>, "ncp scan" => {
        after: u32,
        kind: u16,
        name: Name<'a>,
    }

    /// Request for 128 octets of a property.
    ReadProperty<'a>, "ncp property" => {
        kind: u16,
        name: Name<'a>,
        segment: u8,
        property: Name<'a>,
    }

    /// Request for the next property that matches a name, which may contain `*`.
    ScanProperties<'a>, "ncp scan of properties" => {
        kind: u16,
        name: Name<'a>,
        after: u32,
        property: Name<'a>,
    }

    ScannedProperty, "ncp property reply" => {
        name: [u8; PROPERTY_LEN],
        flags: u8,
        security: u8,
        instance: u32,
        has_value: u8,
        has_more: u8,
    }

    Logged, "ncp logged information" => {
        number: u32,
        kind: u16,
        name: [u8; NAME_LEN],
        since: [u8; 7],
        reserved: u8,
    }

    Access, "ncp bindery access" => {
        level: u8,
        number: u32,
    }

    Object, "ncp object reply" => {
        number: u32,
        kind: u16,
        name: [u8; NAME_LEN],
    }

    Scanned, "ncp scan reply" => {
        number: u32,
        kind: u16,
        name: [u8; NAME_LEN],
        is_dynamic: u8,
        security: u8,
        has_properties: u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_has_name_and_password() {
        let octets = b"\x00\x01\x03JOE\x02pw";
        let login = PlainLogin { kind: object::USER, name: Name(b"JOE"), password: Name(b"pw") };
        assert_eq!(PlainLogin::parse(octets), Ok(login));
        let mut again = Vec::new();
        login.emit(&mut again);
        assert_eq!(again, octets);
        assert!(PlainLogin::parse(&octets[..8]).is_err());
    }
}
