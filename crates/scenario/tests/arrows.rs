//! The dependencies between the crates point one way: this is the picture in ARCHITECTURE.md.

use std::process::Command;

/// Each crate with the crates of the project that it may use.
const ARROWS: [(&str, &[&str]); 10] = [
    ("units", &[]),
    ("aqm", &["units"]),
    ("transport", &["units"]),
    ("netsim", &["aqm", "transport", "units"]),
    ("quantities", &["netsim"]),
    ("scenario", &["aqm", "netsim", "transport", "units"]),
    ("dataplane", &["aqm", "netsim", "quantities", "scenario", "transport", "units"]),
    ("web", &["netsim", "quantities", "scenario", "units"]),
    ("c", &["aqm", "scenario", "units"]),
    ("bindings", &["aqm", "dataplane", "netsim", "quantities", "scenario", "units", "web"]),
];

#[test]
fn arrows_point_one_way() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert_eq!(packages.len(), ARROWS.len(), "a crate without a place in the picture");
    for package in packages {
        let short = |name: &serde_json::Value| {
            name.as_str().and_then(|n| n.strip_prefix("aqmlab-")).map(str::to_owned)
        };
        let name = short(&package["name"]).expect("a crate of the project");
        let (_, allowed) = ARROWS.iter().find(|(n, _)| *n == name).expect("a crate in the picture");
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        for dependency in dependencies.iter().filter_map(|d| short(&d["name"])) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not use {dependency}");
        }
    }
}
