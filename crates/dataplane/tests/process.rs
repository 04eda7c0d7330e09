//! The whole link process, in a temporary network namespace. Needs `unshare` and `/dev/net/tun`.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const LINK: &str = env!("CARGO_BIN_EXE_aqmlab-link");

/// Words to put before a command so that it runs in a namespace of its own, or why that cannot be.
fn namespace() -> Result<&'static [&'static str], String> {
    let ways: [&[&str]; 2] = [&["unshare", "-n", "--"], &["unshare", "-Urn", "--"]];
    OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .map_err(|e| format!("/dev/net/tun: {e}"))?;
    let works = |way: &&&[&str]| {
        let probe = Command::new(way[0]).args(&way[1..]).args(["true"]).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    };
    ways.iter().find(works).copied().ok_or_else(|| "no network namespace without privileges".to_owned())
}

fn config(rate: &str) -> Value {
    let scenario = format!(
        r#"
        format = 1
        [run]
        duration = "10s"
        [dumbbell]
        bottleneck = {{ rate = "{rate}", delay = "1ms" }}
        left = {{ rate = "100Mbps", delay = "1ms" }}
        right = {{ rate = "100Mbps", delay = "1ms" }}
        [[flow]]
        name = "g"
        transport = "udp"
        rate = "1Mbps"
        "#
    );
    json!({
        "scenario": scenario,
        "a": {"device": "aqm-a"},
        "b": {"device": "aqm-b"},
        "warmup_s": 0,
        "snapshot_interval_s": 0.02,
        "buffers": 64,
    })
}

struct Link {
    child: Child,
    commands: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Link {
    fn start(way: &[&str], config: &Value) -> Self {
        let pipe = Stdio::piped;
        let command = [way, &[LINK, "-"]].concat();
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .stdin(pipe())
            .stdout(pipe())
            .stderr(pipe())
            .spawn()
            .expect("the link process");
        let mut commands = child.stdin.take().expect("a pipe");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        writeln!(commands, "{config}").expect("a configuration");
        Self { child, commands, lines }
    }

    fn say(&mut self, command: &str) {
        writeln!(self.commands, "{command}").expect("a command");
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// Reads on to the outcome.
    fn outcome(&mut self) -> Value {
        loop {
            if let Some(outcome) = self.next().get("outcome") {
                return outcome.clone();
            }
        }
    }
}

#[test]
fn a_run_from_its_configuration_to_its_outcome() {
    let way = match namespace() {
        Ok(way) => way,
        // Machines may forbid namespaces or TUN, without which there is nothing to run.
        Err(why) => return eprintln!("skipped: {why}"),
    };
    // A folder in which only its owner may create a file.
    let folder = std::env::temp_dir().join(format!("aqmlab-process-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let (capture, events) = (folder.join("all.pcap"), folder.join("events.csv"));
    let mut recorded = config("10Mbps");
    (recorded["record"], recorded["events"]) = (json!(capture), json!(events));
    let mut link = Link::start(way, &recorded);
    let ready = link.next();
    assert_eq!(ready["ready"]["a"], "aqm-a", "{ready}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", link.child.id())).expect("a status");
    let says =
        |key: &str| status.lines().find_map(|l| l.strip_prefix(key)).map(str::trim).unwrap_or_default();
    assert_eq!((says("CapEff:"), says("CapPrm:")), ("0000000000000000", "0000000000000000"));
    assert_eq!(says("NoNewPrivs:"), "1");
    if way.contains(&"-n") {
        assert_eq!(says("Uid:").split_ascii_whitespace().collect::<Vec<_>>(), ["65534"; 4], "root is left");
    }
    link.say("start");
    let first = link.next();
    assert_eq!(first["directions"][0]["link"], "bottleneck", "{first}");
    assert_eq!(first["directions"][0]["rate_bps"], 10_000_000);
    link.say("nonsense");
    link.say(&format!("reload {}", config("20Mbps")));
    let seen =
        (0..100).map(|_| link.next()["directions"][0]["rate_bps"].clone()).find(|rate| *rate == 20_000_000);
    assert!(seen.is_some(), "another rate was never seen");
    link.say("stop");
    let outcome = link.outcome();
    assert_eq!(outcome["certificate"]["unaccounted"], 0, "{outcome}");
    assert_eq!(outcome["tables"]["links"]["link"], json!(["bottleneck"]));
    assert!(outcome["duration_s"].as_f64().is_some_and(|s| s > 0.02));
    assert!(link.child.wait().expect("an end").success());
    assert!(
        std::fs::read_to_string(events)
            .is_ok_and(|text| text.starts_with("t_ps,link,") && text.ends_with('\n'))
    );
    assert!(std::fs::read(capture).is_ok_and(|bytes| bytes.len() >= 24), "a capture has a header");
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn it_ends_with_its_duration_its_input_or_a_signal() {
    let way = match namespace() {
        Ok(way) => way,
        // Machines may forbid namespaces or TUN, without which there is nothing to run.
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let mut timed = config("10Mbps");
    timed["duration_s"] = json!(0.1);
    let mut link = Link::start(way, &timed);
    link.say("start");
    assert_eq!(link.outcome()["duration_s"], 0.1);
    assert!(link.child.wait().expect("an end").success());

    let Link { mut child, commands, lines } = Link::start(way, &config("10Mbps"));
    drop(commands);
    let last = lines.lines().map_while(Result::ok).last();
    assert!(last.is_some_and(|line| line.starts_with("{\"outcome\"")));
    assert!(child.wait().expect("an end").success());

    let mut link = Link::start(way, &config("10Mbps"));
    link.next();
    link.say("start");
    link.next();
    let killed = Command::new("kill").args(["-TERM", &link.child.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    assert!(link.outcome()["certificate"]["in"].is_u64());
    assert!(link.child.wait().expect("an end").success());
}

#[test]
fn what_is_wrong_is_said_in_a_line() {
    let run = |config: &str| {
        let output = Command::new(LINK).arg(config).output().expect("the link process");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut wrong = config("10Mbps");
    wrong["sed"] = json!(1);
    let (code, said) = run(&wrong.to_string());
    assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.starts_with("configuration: sed: unknown field `sed`"), "{said}");
    let mut nowhere = config("10Mbps");
    nowhere["a"]["netns"] = json!("/run/netns/there-is-no-such-namespace");
    let (code, said) = run(&nowhere.to_string());
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.starts_with("network namespace /run/netns/there-is-no-such-namespace: "), "{said}");
    let (code, said) = run("/no/such/file.json");
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_the_run() {
    let way = match namespace() {
        Ok(way) => way,
        // Machines may forbid namespaces or TUN, without which there is nothing to run.
        Err(why) => return eprintln!("skipped: {why}"),
    };
    for key in ["record", "events"] {
        let mut wrong = config("10Mbps");
        wrong[key] = json!("/no/such/folder/file");
        let output = Command::new(way[0]).args(&way[1..]).args([LINK, &wrong.to_string()]).output();
        let output = output.expect("the link process");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
        assert!(said.starts_with("/no/such/folder/file: "), "{said}");
    }
}
