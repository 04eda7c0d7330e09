//! A constant bit rate: `rate = "10Mbps"`.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{ParameterValue, Rate, Serializer, Span, Time};

use super::{Serve, Server, ServerPart};
use crate::link::part::Keys;

/// The server of a constant bit rate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub rate: Rate,
}

impl ServerPart for Constant {
    type State = Serializer;

    fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(ParameterValue::Rate(rate)) = keys.value(&Server::KEY) else { return Ok(None) };
        Ok(Some(Self { rate }))
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn start(&self, _seed: u64, _link: &str) -> Serializer {
        Serializer::new(self.rate)
    }
}

impl Serve for Serializer {
    #[inline(always)]
    fn serve(&mut self, _start: Time, bytes: u32) -> Span {
        self.transmit(bytes)
    }

    fn rate_at(&self, _time: Time) -> Rate {
        self.rate()
    }
}
