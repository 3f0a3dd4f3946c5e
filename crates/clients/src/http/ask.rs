//! Requests and their responses.

use hyper::Request;
use lanlab_files::Result;

use super::answer::Answer;
use super::connection::Connection;
use super::head::Head;
use super::outgoing::Outgoing;
use super::peer::Http;
use crate::transport;

impl Http {
    pub async fn ask(&self, what: &str, request: Request<Outgoing>) -> Result<Answer> {
        let (mut connection, body) = self.begin(request).await?;
        let asking = async {
            let sent = connection.send(body.at_hand()).await;
            match sent.map_err(|broken| broken.fault(what))? {
                Some(early) => Ok(self.early(connection, early)),
                None => self.answered(what, connection).await,
            }
        };
        transport::within(&self.target, what, asking).await
    }

    /// Wait for the response to a request that was sent completely. The caller adds
    /// [`transport::within`].
    pub async fn answered(&self, what: &str, mut connection: Connection) -> Result<Answer> {
        let head = connection.head().await.map_err(|broken| broken.fault(what))?;
        self.see(&head, connection.wait);
        Ok(Answer::new(connection, head))
    }

    /// The response to a request that was not sent completely. The server may wait for the rest, so
    /// no further request is possible.
    pub fn early(&self, connection: Connection, head: Head) -> Answer {
        self.see(&head, connection.wait);
        Answer::new(connection, Head { keeps_alive: false, ..head })
    }
}
