//! A run in slices, and its tables as one block of numbers.

use aqmlab_netsim::{Column, Options, Simulation};
use aqmlab_quantities::values;
use aqmlab_units::{Span, Time};
use serde_json::{Map, Value as Json, json};

use crate::request::{Request, error};

/// A run in progress.
pub(crate) struct Run {
    simulation: Simulation,
    file: String,
    duration: Span,
    warmup: Span,
    seed: u64,
}

impl Run {
    /// Begin a run; the error is the answer that describes it.
    pub fn start(text: &str) -> Result<Self, String> {
        let Request { text: scenario, file, overrides, .. } = Request::read(text).map_err(error)?;
        let body: Json = serde_json::from_str(text).map_err(error)?;
        let seed = body["seed"].as_u64().ok_or_else(|| error("seed: is not a whole number"))?;
        let scenario = aqmlab_scenario::parse(&scenario, &file, &overrides)
            .map_err(|problems| error(problems.first().map_or_else(String::new, ToString::to_string)))?;
        let plan = &scenario.plan;
        let simulation = Simulation::new(plan, seed, Options::default());
        Ok(Self { simulation, file, duration: plan.duration, warmup: plan.warmup, seed })
    }

    /// Go on to this share of the run; return the packets that all links carried so far.
    pub fn advance(&mut self, share: f64) -> u64 {
        self.simulation.run_until(Time((self.duration.0 as f64 * share) as u64));
        self.simulation.totals().0
    }

    /// End the run. The answer has the quantities of the link that the request names, by default the bottleneck; missing values
    /// are null. It lists for each column its `kind` and its place in the block: `at` in bytes, `length` in
    /// values of eight bytes, little endian. Columns of `text` are in the answer itself.
    pub fn finish(mut self, request: &str) -> (String, Vec<u8>) {
        let request: Json = serde_json::from_str(request).unwrap_or_default();
        self.simulation.finish();
        if let Some(why) = self.simulation.full_log() {
            return (error(format!("{}: {why}", self.file)), Vec::new());
        }
        let (packet_hops, enqueue_events) = self.simulation.totals();
        let warnings = self.simulation.warnings();
        let mut block = Vec::new();
        let found = self.simulation.into_tables();
        let run = aqmlab_quantities::Run::new(&found, request["link"].as_str());
        let quantities: Map<_, _> =
            run.iter().flat_map(values).map(|(key, value)| (key, json!(value))).collect();
        let mut tables = Map::new();
        for (name, columns) in found {
            let entries: Vec<_> = columns
                .iter()
                .map(|(name, column)| {
                    let at = block.len();
                    let (kind, length) = match column {
                        Column::Integer(v) => ("i8", append(&mut block, v, |x| x.to_le_bytes())),
                        Column::Real(v) => ("f8", append(&mut block, v, |x| x.to_le_bytes())),
                        Column::Text(v) => return json!({ "name": name, "kind": "text", "values": v.iter().collect::<Vec<_>>() }),
                    };
                    json!({ "name": name, "kind": kind, "at": at, "length": length })
                })
                .collect();
            tables.insert(name.to_owned(), entries.into());
        }
        let answer = json!({
            "ok": true,
            "summary": {
                "seed": self.seed,
                "duration_s": self.duration.secs(),
                "warmup_s": self.warmup.secs(),
                "packet_hops": packet_hops,
                "enqueue_events": enqueue_events,
                "warnings": warnings,
            },
            "quantities": quantities,
            "tables": tables,
        });
        (answer.to_string(), block)
    }
}

/// Append numbers to the block; return how many they are.
fn append<T: Copy>(block: &mut Vec<u8>, values: &[T], bytes: fn(T) -> [u8; 8]) -> usize {
    block.extend(values.iter().flat_map(|&value| bytes(value)));
    values.len()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const REQUEST: &str = r#"{"seed": 1, "file": "a.toml", "overrides": [["run.duration", "2s"]], "text":
        "format = 1\n[run]\nduration = \"9s\"\n[dumbbell]\nbottleneck = { rate = \"1Mbps\", delay = \"1ms\" }\nleft = { rate = \"9Mbps\", delay = \"1ms\" }\nright = { rate = \"9Mbps\", delay = \"1ms\" }\n[[flow]]\nname = \"f\"\ntransport = \"newreno\""}"#;

    fn finished(shares: &[f64]) -> (Json, Vec<u8>) {
        let mut run = Run::start(REQUEST).unwrap_or_else(|why| panic!("{why}"));
        shares.iter().for_each(|&share| {
            run.advance(share);
        });
        let (answer, block) = run.finish(r#"{"link": "bottleneck"}"#);
        (serde_json::from_str(&answer).expect("JSON"), block)
    }

    #[test]
    fn slices_change_nothing() {
        let once = finished(&[]);
        assert_eq!(once.0["summary"]["duration_s"], 2.0);
        assert!(once.0["summary"]["packet_hops"].as_u64() > Some(100));
        assert_eq!(once, finished(&[0.1, 0.1, 0.33, 1.0, 2.0]));
    }

    #[test]
    fn columns_are_where_the_answer_says() {
        let (answer, block) = finished(&[]);
        let links = answer["tables"]["links"].as_array().expect("columns");
        let utilization = links.iter().find(|column| column["name"] == "utilization").expect("a column");
        let at = utilization["at"].as_u64().expect("a place") as usize;
        let value = f64::from_le_bytes(block[at..at + 8].try_into().expect("8 bytes"));
        assert!((0.0..=1.0).contains(&value));
        assert_eq!(answer["quantities"]["utilization"], value);
        assert_eq!(block.len() % 8, 0);
    }

    #[test]
    fn a_scenario_with_an_error_does_not_start() {
        let why = Run::start(r#"{"seed": 1, "text": "format = 1", "file": "a.toml"}"#).err();
        assert!(why.is_some_and(|why| why.contains("a.toml:1:1")));
        assert!(Run::start(r#"{"text": ""}"#).is_err_and(|why| why.contains("seed")));
    }
}
