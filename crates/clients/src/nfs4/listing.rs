//! Directory listings, page by page (READDIR, RFC 8881, section 18.23).

use lanlab_files::{Entry, Result, ServicePath, is_name};
use lanlab_wire::nfs3::MAX_NAME_OCTETS;
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer};
use lanlab_wire::nfs4::operation::{GETFH, READDIR};
use lanlab_wire::nfs4::{Attributes, DIRECTORY, MAX_HANDLE_OCTETS, attribute, write_bitmap};

use super::compound::{Compound, Results};
use super::{Session, is_gone};
use crate::nfs::connection::garbled;
use crate::nfs::listing::{NAME_OCTETS, PAGE_OCTETS, check_page};

pub struct Page {
    pub entries: Vec<(String, Attributes)>,
    pub cookie: u64,
    verifier: [u8; 8],
    pub is_last: bool,
}

impl Session {
    pub(super) async fn list_all(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let mut found = Vec::new();
        for (name, attributes) in self.entries(&self.at(path).await?).await? {
            if !is_gone(&attributes)? {
                found.push(entry(name, &attributes));
            }
        }
        Ok(found)
    }

    /// Names and attributes of a directory's entries.
    pub(super) async fn entries(&self, at: &Compound) -> Result<Vec<(String, Attributes)>> {
        let wanted = [attribute::TYPE, attribute::SIZE, attribute::RDATTR_ERROR];
        let page_octets = PAGE_OCTETS.min(self.limits.read);
        let (mut found, mut seen, mut cookie, mut verifier) = (Vec::new(), 0, 0, [0; 8]);
        let mut handle: Option<Vec<u8>> = None;
        loop {
            let at = match &handle {
                None => Compound::default().then(at).op(GETFH, |_| {}),
                Some(handle) => Compound::at(Some(handle)),
            };
            let asked = at.op(READDIR, |writer: &mut Writer| {
                writer.u64(cookie);
                writer.fixed(&verifier);
                writer.u32(NAME_OCTETS.min(page_octets));
                writer.u32(page_octets);
                write_bitmap(writer, &wanted);
            });
            let answer = self.client.call(&asked, &[]).await?;
            let mut results = Results(answer.reader());
            if handle.is_none() {
                let octets = results.of(GETFH)?.opaque(MAX_HANDLE_OCTETS).map_err(garbled)?;
                handle = Some(octets.to_vec());
            }
            let page = Page::read(results.of(READDIR)?, cookie).map_err(garbled)?;
            seen += page.entries.len();
            check_page(page.entries.is_empty(), page.is_last, seen)?;
            found.extend(page.entries.into_iter().filter(|(name, _)| is_name(name)));
            if page.is_last {
                return Ok(found);
            }
            (cookie, verifier) = (page.cookie, page.verifier);
        }
    }
}

impl Page {
    pub fn read(reader: &mut Reader<'_>, cookie: u64) -> std::result::Result<Self, Garbled> {
        let verifier = reader.fixed(8)?.try_into().unwrap_or_default();
        let (mut entries, mut next) = (Vec::new(), cookie);
        while reader.boolean()? {
            next = reader.u64()?;
            let name = reader.opaque(MAX_NAME_OCTETS)?;
            // A name that is not UTF-8 is not ours. It counts as seen.
            let name = String::from_utf8(name.to_vec()).unwrap_or_default();
            entries.push((name, Attributes::read(reader)?));
        }
        let is_last = reader.boolean()?;
        Ok(Self { entries, cookie: next, verifier, is_last })
    }
}

pub fn entry(name: String, found: &Attributes) -> Entry {
    let is_directory = found.get(attribute::TYPE) == Some(u64::from(DIRECTORY));
    let size_bytes = found.get(attribute::SIZE).filter(|_| !is_directory).unwrap_or(0);
    Entry { name, size_bytes, is_directory }
}
