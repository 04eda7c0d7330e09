use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use aqmlab_netsim::Column;
use aqmlab_units::{Span, Time};
use serde_json::{Map, Value, json};

use super::{Recording, Tables, differences, standalone_plan, through_data_plane, through_simulator};
use crate::capture::Reader;
use crate::config::Planned;

/// Replay a capture through data plane and simulator, for the configuration of a link process. Return the outcomes of the
/// packets and `differences`, which is empty if both agree, as JSON. Events are included where the configuration asks for
/// them; the number of a packet is its place in the capture.
///
/// # Errors
/// Return an error in the configuration or the capture, as one line.
pub fn replay_json(config: &str, capture: &Path) -> Result<String, String> {
    let planned = Planned::read(config).map_err(|bad| bad.to_string())?;
    let of_file = |error: std::io::Error| format!("{}: {error}", capture.display());
    let file = File::open(capture).map_err(of_file)?;
    let packets = Reader::new(BufReader::new(file)).map_err(of_file)?;
    let extra = planned.config.count_bytes.extra();
    let recording = Recording::of(packets, &mut planned.classifier(), extra).map_err(of_file)?;
    let mut plan = standalone_plan(&planned.plan, planned.forward, &recording.flows);
    if planned.config.duration_s.is_none() {
        let last = recording.arrivals.last().map_or(Time::ZERO, |recorded| recorded.meta.arrival);
        plan.duration = last.since(Time::ZERO) + Span::from_secs(1.0);
    }
    if plan.warmup >= plan.duration {
        plan.warmup = Span::ZERO;
    }
    let seed = planned.config.seed;
    let (found, out) = through_data_plane(&plan, seed, &recording.arrivals);
    let mut differing = Vec::new();
    for shortcuts in [true, false] {
        let simulated = through_simulator(&plan, seed, &recording.arrivals, shortcuts);
        differing.extend(differences(&found, &simulated));
    }
    differing.dedup();
    let malformed: Map<String, Value> =
        recording.malformed.iter().map(|(reason, n)| (reason.name().to_owned(), json!(n))).collect();
    Ok(json!({
        "arrivals": recording.arrivals.len(),
        "reverse": recording.reverse,
        "malformed": malformed,
        "flows": recording.flows,
        "out": out.len(),
        "link": first_row(&found, "links"),
        "events": planned.config.events.as_ref().map(|_| columns(&found, "events")),
        "differences": differing,
    })
    .to_string())
}

/// The first row of a table as an object.
fn first_row(tables: &Tables, name: &str) -> Value {
    object(tables, name, |column| match column {
        Column::Integer(values) => json!(values.first()),
        Column::Real(values) => json!(values.first()),
        Column::Text(values) => json!(values.iter().next()),
    })
}

/// The columns of a table as an object.
fn columns(tables: &Tables, name: &str) -> Value {
    object(tables, name, |column| match column {
        Column::Integer(values) => json!(values),
        Column::Real(values) => json!(values),
        Column::Text(values) => values.iter().collect(),
    })
}

fn object(tables: &Tables, name: &str, of: impl Fn(&Column) -> Value) -> Value {
    let table = tables.iter().find(|(other, _)| *other == name).map(|(_, table)| table);
    table
        .into_iter()
        .flatten()
        .map(|(column, values)| ((*column).to_owned(), of(values)))
        .collect::<Map<_, _>>()
        .into()
}
