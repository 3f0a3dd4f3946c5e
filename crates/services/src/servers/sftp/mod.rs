use crate::fault::{Class, Fault, Result};
use crate::servers::{Offer, Serving};

/// Begin to serve.
pub async fn serve(offer: &Offer) -> Result<Serving> {
    Err(Fault::new(Class::Unsupported, format!("{:?} is not there yet", offer.service)))
}
