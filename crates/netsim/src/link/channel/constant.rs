//! A constant propagation delay: `delay = "10ms"`.

use aqmlab_aqm::ParameterError;
use aqmlab_units::{Parameter, ParameterValue, Span, Time};

use super::{Carry, Changing, Channel, ChannelChange, ChannelPart};
use crate::link::part::Keys;

/// The channel of a constant delay.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub delay: Span,
}

impl ChannelPart for Constant {
    const PARAMETERS: &'static [Parameter] = &[Channel::KEY];
    type State = Span;

    fn read(keys: &dyn Keys, before: Option<Channel>) -> Result<Option<Channel>, ParameterError> {
        let Some(ParameterValue::Time(delay)) = keys.value(&Channel::KEY) else { return Ok(before) };
        Ok(Some(before.map_or_else(|| Channel::constant(delay), |before| before.with_delay(delay))))
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn shortest(&self) -> Span {
        self.delay
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn then(self, at: Time, change: &ChannelChange) -> Channel {
        Changing::new(self.delay).then(at, change)
    }

    fn since(&self, _now: Time) -> Self {
        self.clone()
    }

    fn start(&self, _seed: u64, _link: &str) -> Span {
        self.delay
    }
}

impl Carry for Span {
    #[inline(always)]
    fn carry(&mut self, _start: Time, end: Time) -> Time {
        end + *self
    }

    fn copy(&mut self) -> Option<Time> {
        None
    }
}
