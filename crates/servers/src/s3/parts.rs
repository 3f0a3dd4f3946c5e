//! Multipart uploads.

use hyper::header::ETAG;
use hyper::{Response, StatusCode};
use lanlab_wire::xml;

use super::super::http::Lingering;
use super::answers::{Answer, document, empty, with_body};
use super::authentication::Payload;
use super::objects::{MAX_BYTES, only_new};
use super::receive::Intake;
use super::refusal::{Code, Refusal};
use super::request::Asked;
use super::uploads::Listed;
use super::{BUCKET, Served, store};
use crate::file_sessions::while_others_run;

impl Served {
    pub(super) fn create_upload(&self, asked: &Asked) -> Result<Answer, Refusal> {
        let modified = asked.modified()?;
        let upload_id = self.uploads.begin(asked.key.clone(), modified)?;
        Ok(document("InitiateMultipartUploadResult", |answer| {
            answer.text("Bucket", BUCKET);
            answer.text("Key", &asked.key);
            answer.text("UploadId", &upload_id);
        }))
    }

    pub(super) async fn upload_part(
        &self,
        asked: &Asked,
        payload: Payload,
        body: Lingering,
    ) -> Result<Answer, Refusal> {
        let upload_id = asked.parameter("uploadId").unwrap_or_default();
        let number = u32::try_from(asked.number("partNumber")?.unwrap_or(0)).unwrap_or(u32::MAX);
        self.uploads.expects(upload_id, &asked.key, number)?;
        let unseen = self.with(|store| Ok(store.unseen(&asked.key)?))?;
        let intake = Intake::new(asked, payload, MAX_BYTES, Code::EntityTooLarge, unseen)?;
        let unseen = intake.receive(body, self.patience, |mut unseen| {
            unseen.close(None)?;
            Ok(unseen)
        });
        let etag = self.uploads.add(upload_id, &asked.key, number, unseen.await?)?;
        Ok(with_body(Response::builder().header(ETAG, format!("\"{etag}\"")), ""))
    }

    pub(super) async fn complete_upload(
        &self,
        asked: &Asked,
        payload: Payload,
        body: Lingering,
    ) -> Result<Answer, Refusal> {
        let only_new = only_new(asked)?;
        let listed = listed(&self.document(asked, payload, body).await?)?;
        let upload_id = asked.parameter("uploadId").unwrap_or_default();
        let (parts, modified) = self.uploads.take(upload_id, &asked.key, &listed)?;
        let found = while_others_run(|| store::join(parts, modified)?.show(only_new))?;
        Ok(document("CompleteMultipartUploadResult", |answer| {
            answer.text("Bucket", BUCKET);
            answer.text("Key", &asked.key);
            answer.etag(&found.etag());
        }))
    }

    pub(super) fn abort_upload(&self, asked: &Asked) -> Result<Answer, Refusal> {
        self.uploads.forget(asked.parameter("uploadId").unwrap_or_default(), &asked.key)?;
        Ok(empty(StatusCode::NO_CONTENT))
    }
}

pub fn listed(document: &[u8]) -> Result<Vec<Listed>, Refusal> {
    let (mut listed, mut part, mut is_right) = (Vec::new(), Listed::default(), true);
    let read = xml::elements(document, |names, text| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names[..] {
            ["CompleteMultipartUpload", "Part", "PartNumber"] => match text.trim().parse() {
                Ok(number) => part.number = number,
                Err(_) => is_right = false,
            },
            ["CompleteMultipartUpload", "Part", "ETag"] => {
                part.etag = Some(text.trim().trim_matches('"').to_owned());
            }
            ["CompleteMultipartUpload", "Part"] => listed.push(std::mem::take(&mut part)),
            ["CompleteMultipartUpload", ..] => {}
            _ => is_right = false,
        }
    });
    if read.is_err() || !is_right {
        let message = "allowed: `CompleteMultipartUpload` with `Part`s of `PartNumber` and `ETag`";
        return Err(Refusal::new(Code::MalformedXML, message));
    }
    Ok(listed)
}
