//! Open of a file from LAN Manager on.
//!
//! Source: [MS-CIFS] 2.2.4.41.

use super::andx::Block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

/// Flag of a request: the response has attributes, time and size.
pub const REQUEST_ATTRIBUTES: u16 = 0x0001;

/// Open functions: what to do with a file that exists, and with one that does not.
pub mod function {
    /// Fail if the file exists.
    pub const FAIL_IF_EXISTS: u16 = 0x00;
    /// Open the file if it exists.
    pub const OPEN: u16 = 0x01;
    /// Cut the file to no length if it exists.
    pub const TRUNCATE: u16 = 0x02;
    /// Create the file if it does not exist.
    pub const CREATE: u16 = 0x10;
}

/// Results of an open.
pub mod result {
    /// The file was there.
    pub const OPENED: u16 = 1;
    /// The file was created.
    pub const CREATED: u16 = 2;
    /// The file was there and was cut.
    pub const TRUNCATED: u16 = 3;
    /// Bit: an opportunistic lock was granted.
    pub const OPLOCK: u16 = 0x8000;
}

/// Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// [`REQUEST_ATTRIBUTES`] and flags for opportunistic locks.
    pub flags: u16,
    /// Access mode of [`open::access`](super::open::access).
    pub access: u16,
    /// Attributes that an existing file may have.
    pub search_attributes: u16,
    /// Attributes of a file that is created.
    pub attributes: u16,
    /// Time of a file that is created, s since 1970 in the server's time.
    pub creation_time: u32,
    /// Open functions of [`function`].
    pub function: u16,
    /// Octets to set aside for a file that is created or cut.
    pub allocation_size: u32,
    /// Time to wait for a device, ms.
    pub timeout_ms: u32,
    /// File.
    pub name: Text<'a>,
}

impl<'a> Request<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(15)?;
        words.skip(4)?;
        Ok(Self {
            flags: words.u16()?,
            access: words.u16()?,
            search_attributes: words.u16()?,
            attributes: words.u16()?,
            creation_time: words.u32()?,
            function: words.u16()?,
            allocation_size: words.u32()?,
            timeout_ms: words.u32()?,
            name: block.bytes()?.text(block.is_unicode()),
        })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_andx_words(15);
        writer.u16(self.flags);
        writer.u16(self.access);
        writer.u16(self.search_attributes);
        writer.u16(self.attributes);
        writer.u32(self.creation_time);
        writer.u16(self.function);
        writer.u32(self.allocation_size);
        writer.u32(self.timeout_ms);
        writer.u32(0);
        writer.begin_bytes();
        writer.text(self.name);
        writer.end();
    }
}

/// Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response {
    /// Identifier of the open file.
    pub fid: u16,
    /// Attributes of the file.
    pub attributes: u16,
    /// Time of the last write, s since 1970 in the server's time.
    pub last_write_time: u32,
    /// Octets in the file, the low 32 bits.
    pub size: u32,
    /// Access that was granted.
    pub granted_access: u16,
    /// Kind of resource: 0 is a file or a directory.
    pub resource_type: u16,
    /// State of a named pipe.
    pub pipe_status: u16,
    /// One of [`result`].
    pub result: u16,
}

impl Response {
    /// Read the response. Words after the fifteenth are access masks, which nothing here needs.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(15)?;
        words.skip(4)?;
        Ok(Self {
            fid: words.u16()?,
            attributes: words.u16()?,
            last_write_time: words.u32()?,
            size: words.u32()?,
            granted_access: words.u16()?,
            resource_type: words.u16()?,
            pipe_status: words.u16()?,
            result: words.u16()?,
        })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_andx_words(15);
        writer.u16(self.fid);
        writer.u16(self.attributes);
        writer.u32(self.last_write_time);
        writer.u32(self.size);
        writer.u16(self.granted_access);
        writer.u16(self.resource_type);
        writer.u16(self.pipe_status);
        writer.u16(self.result);
        writer.zeros(6);
        writer.begin_bytes();
        writer.end();
    }
}
