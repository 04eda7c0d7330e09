//! Requests of one page, and the run that they are about.

use crate::request;
use crate::run::Run;

/// A page's session: at most one run, and the numbers of the last one that was finished.
#[derive(Default)]
pub struct Session {
    run: Option<Run>,
    columns: Vec<u8>,
}

impl Session {
    /// Answer a request, as JSON text. The names of requests are:
    ///
    /// * `check`: check a scenario (`text`, `file`, `overrides`: pairs of key and value, `whole`); answered as by
    ///   `aqmlab check --json`;
    /// * `disciplines`: list the disciplines and transports with their parameters;
    /// * `quantities`: list the quantities of runs;
    /// * `curve`: evaluate the drop curve of a queue (`queue`: the body of a `[queue.NAME]` table as JSON text) at the averages `x`;
    /// * `read_toml`: read TOML text as JSON;
    /// * `start`: begin a run (`text`, `file`, `overrides`, `seed`); another run in progress is dropped;
    /// * `finish`: end the run; answered with its summary, the quantities of `link` (default: the bottleneck), and the places of its
    ///   columns in [`Session::columns`].
    pub fn answer(&mut self, name: &str, text: &str) -> String {
        match name {
            "check" => request::check(text),
            "disciplines" => aqmlab_scenario::disciplines_json(),
            "quantities" => request::quantities(),
            "curve" => request::curve(text),
            "read_toml" => request::read_toml(text),
            "start" => self.start(text),
            "finish" => self.finish(text),
            other => request::error(format!("there is no request {other:?}")),
        }
    }

    fn start(&mut self, text: &str) -> String {
        *self = Self::default();
        match Run::start(text) {
            Ok(run) => {
                self.run = Some(run);
                request::ok()
            }
            Err(why) => why,
        }
    }

    /// Go on to this share of the run; return the packets that all links carried so far, or `None` if there is no run.
    pub fn advance(&mut self, share: f64) -> Option<u64> {
        self.run.as_mut().map(|run| run.advance(share))
    }

    fn finish(&mut self, text: &str) -> String {
        let Some(run) = self.run.take() else { return request::error("there is no run") };
        let (answer, columns) = run.finish(text);
        self.columns = columns;
        answer
    }

    /// The numbers of the last run that was finished, until the next one starts.
    pub fn columns(&self) -> &[u8] {
        &self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_started_once_and_finished_once() {
        let mut session = Session::default();
        assert_eq!(session.advance(0.5), None);
        assert_eq!(session.answer("finish", ""), r#"{"error":"there is no run","ok":false}"#);
        assert_eq!(session.answer("start", crate::run::tests::REQUEST), r#"{"ok":true}"#);
        assert!(session.advance(0.5) > Some(0));
        assert!(session.answer("finish", "").starts_with(r#"{"ok":true,"#));
        assert!(!session.columns().is_empty());
        assert_eq!(session.advance(1.0), None);
        assert!(session.answer("start", "{}").contains(r#""ok":false"#));
        assert!(session.columns().is_empty());
    }

    #[test]
    fn an_unknown_request_is_an_error() {
        assert!(Session::default().answer("stop", "").contains("there is no request"));
    }
}
