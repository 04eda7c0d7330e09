use super::{VictimPart, VictimRule};
use crate::ParameterError;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// The arriving packet is the victim, as in RED and all that change only its probability.
#[derive(Clone, Copy, Debug)]
pub struct Arriving;

impl Part for Arriving {
    const NAME: &'static str = "arriving";
    const DOC: &'static str = "the arriving packet";
}

impl VictimPart for Arriving {
    fn read(_: &mut ParameterReader<'_>) -> Result<Self, ParameterError> {
        Ok(Self)
    }
}

impl VictimRule for Arriving {
    #[inline]
    fn is_arriving(&self) -> bool {
        true
    }
}
