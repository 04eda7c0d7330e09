//! A constant bit rate: `rate = "10Mbps"`.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{ParameterValue, Rate, Serializer, Span, Time};

use super::piecewise::Work;
use super::{InService, Serve, Server, ServerPart};
use crate::link::part::Keys;

/// The server of a constant bit rate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub rate: Rate,
    pub in_service: InService,
}

impl ServerPart for Constant {
    type State = Serializer;

    fn read(keys: &dyn Keys) -> Result<Option<Self>, ParameterError> {
        let Some(ParameterValue::Rate(rate)) = keys.value(&Server::CHANGED) else { return Ok(None) };
        Ok(Some(Self { rate, in_service: InService::default() }))
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn with_in_service(self, in_service: InService) -> Server {
        Self { in_service, ..self }.into()
    }

    fn in_service(&self) -> InService {
        self.in_service
    }

    fn uses_in_service(&self) -> bool {
        true
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

    fn serve_until(&mut self, start: Time, work: Work, until: Time) -> Result<Time, Work> {
        self.rate().serve_until(start, work, until)
    }

    fn rate_at(&self, _time: Time) -> Rate {
        self.rate()
    }
}
