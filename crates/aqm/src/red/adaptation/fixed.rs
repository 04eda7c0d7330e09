use super::AdaptationPart;
use crate::ParameterError;
use crate::red::part::Part;
use crate::spec::ParameterReader;

/// Parameters stay as they are.
#[derive(Clone, Copy, Debug)]
pub struct Fixed;

impl Part for Fixed {
    const NAME: &'static str = "none";
    const DOC: &'static str = "parameters stay as they are";
}

impl AdaptationPart for Fixed {
    fn read(_: &mut ParameterReader<'_>, _: &super::AdaptationContext<'_>) -> Result<Self, ParameterError> {
        Ok(Self)
    }

    #[inline]
    fn is_none(&self) -> bool {
        true
    }
}
