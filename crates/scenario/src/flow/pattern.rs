use aqmlab_netsim::plan::{Pattern, Spread};
use aqmlab_units::Span;

use crate::section::Section;
use crate::shape::{Key, Kind, Shape};
use crate::tree::Value;
use crate::{spread, units};

const CONSTANT: &str = "constant";
const POISSON: &str = "poisson";
/// A distribution of times.
const EXAMPLE: &str = "{ exponential = \"10s\" } or { uniform = [\"5s\", \"15s\"] }";

pub(super) fn kind() -> Kind {
    let on_off = Shape::new(
        "Bursts at the bit rate, silent between them; the first burst begins at the start.",
        vec![
            Key::new("on", time_kind(Kind::SOME_TIME), "Length of a burst.").required(),
            Key::new("off", time_kind(Kind::ANY_TIME), "Length of a silence.").required(),
        ],
    );
    Kind::Any(vec![Kind::Choice(vec![CONSTANT, POISSON]), Kind::Table(on_off.into())])
}

/// A time, or a distribution of times.
pub(super) fn time_kind(fixed: Kind) -> Kind {
    let spread =
        spread::shape("A time drawn for each burst or silence.", Kind::ANY_TIME, &Kind::SOME_TIME, &[]);
    Kind::Any(vec![fixed, Kind::Table(spread.into())])
}

pub(super) fn read(flow: &Section<'_>) -> Option<Pattern> {
    if !flow.has("pattern") {
        return Some(Pattern::Constant);
    }
    let Some(on_off) = flow.section("pattern") else {
        return match flow.text("pattern")? {
            POISSON => Some(Pattern::Poisson),
            _ => Some(Pattern::Constant),
        };
    };
    let (on, off) = (time(&on_off, "on"), time(&on_off, "off"));
    Some(Pattern::OnOff { on: on?, off: off? })
}

/// The time under a key, or its distribution.
pub(super) fn time(on_off: &Section<'_>, key: &str) -> Option<Spread> {
    if on_off.section(key).is_some() {
        return spread::read(on_off, key, EXAMPLE, seconds);
    }
    on_off.span(key).map(|span| Spread::Fixed(span.secs()))
}

fn seconds(value: &Value) -> Option<f64> {
    units::time(value).ok().map(|ps| Span(ps).secs())
}
