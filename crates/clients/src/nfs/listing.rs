//! Directory listings, page by page (READDIRPLUS, RFC 1813, section 3.3.17).

use lanlab_files::{Class, Entry, Fault, Result, ServicePath, is_name};
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer};
use lanlab_wire::nfs3::{Attributes, DIRECTORY, MAX_HANDLE_OCTETS, MAX_NAME_OCTETS, procedure};

use super::Session;
use super::connection::garbled;

pub const NAME_OCTETS: u32 = 32 << 10;
pub const PAGE_OCTETS: u32 = 128 << 10;

/// Maximum entries, more than any study creates. A server that sends more is rejected.
const MAX_ENTRIES: usize = 1 << 20;

/// Check that a listing goes on and ends, after a page and `seen` entries in all.
pub fn check_page(is_empty: bool, is_last: bool, seen: usize) -> Result<()> {
    if (is_empty && !is_last) || seen > MAX_ENTRIES {
        let message = format!("a listing without end after {seen} entries");
        return Err(Fault::new(Class::Protocol, message));
    }
    Ok(())
}

pub struct Page {
    pub entries: Vec<(String, Option<Attributes>)>,
    pub cookie: u64,
    verifier: [u8; 8],
    pub is_last: bool,
}

impl Session {
    pub(super) async fn list_all(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let directory = match path {
            Some(path) => self.handle_of(path).await?.0,
            None => self.base.clone(),
        };
        let mut found = Vec::new();
        let (mut seen, mut cookie, mut verifier) = (0, 0, [0; 8]);
        loop {
            let page = self.page(&directory, cookie, verifier).await?;
            seen += page.entries.len();
            check_page(page.entries.is_empty(), page.is_last, seen)?;
            for (name, attributes) in page.entries {
                if !is_name(&name) {
                    continue;
                }
                // A server may omit the attributes of an entry.
                let attributes = match attributes {
                    Some(attributes) => attributes,
                    None => self.look(&directory, &name).await?.1,
                };
                let is_directory = attributes.kind == DIRECTORY;
                let size_bytes = if is_directory { 0 } else { attributes.size_bytes };
                found.push(Entry { name, size_bytes, is_directory });
            }
            if page.is_last {
                return Ok(found);
            }
            (cookie, verifier) = (page.cookie, page.verifier);
        }
    }

    async fn page(&self, directory: &[u8], cookie: u64, verifier: [u8; 8]) -> Result<Page> {
        let arguments = |writer: &mut Writer| {
            writer.opaque(directory);
            writer.u64(cookie);
            writer.fixed(&verifier);
            writer.u32(NAME_OCTETS);
            writer.u32(PAGE_OCTETS);
        };
        let answer = self.nfs(procedure::READDIRPLUS, arguments, &[]).await?;
        Page::read(&mut answer.reader(), cookie).map_err(garbled)
    }
}

impl Page {
    pub fn read(reader: &mut Reader<'_>, cookie: u64) -> std::result::Result<Self, Garbled> {
        Attributes::read_optional(reader)?;
        let verifier = reader.fixed(8)?.try_into().unwrap_or_default();
        let (mut entries, mut next) = (Vec::new(), cookie);
        while reader.boolean()? {
            reader.u64()?; // Number of the file.
            let name = reader.opaque(MAX_NAME_OCTETS)?;
            next = reader.u64()?;
            let attributes = Attributes::read_optional(reader)?;
            if reader.boolean()? {
                reader.opaque(MAX_HANDLE_OCTETS)?;
            }
            // Such a name is not ours, because we write only UTF-8 names. It counts as seen.
            let name = String::from_utf8(name.to_vec()).unwrap_or_default();
            entries.push((name, attributes));
        }
        let is_last = reader.boolean()?;
        Ok(Self { entries, cookie: next, verifier, is_last })
    }
}
