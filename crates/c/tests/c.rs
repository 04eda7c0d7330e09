//! Programs in C over the library as built for this test: compiled, run, and checked for leaks by valgrind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FLAGS: [&str; 6] = ["-std=c11", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Return whether a program is here; a test without it is skipped with a message.
fn has(program: &str) -> bool {
    let is_here = Command::new(program).arg("--version").output().is_ok();
    if !is_here {
        eprintln!("skipped: there is no {program}");
    }
    is_here
}

fn succeeded(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("started");
    let text = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.success(), "{command:?}: {status}\n{text}{}", String::from_utf8_lossy(&stderr));
    text
}

/// The folder of the shared library that cargo built for this test.
fn libraries() -> PathBuf {
    std::env::current_exe().expect("a path").parent().expect("a folder").to_owned()
}

/// Compile a source file of the repository.
fn compiled(source: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source.replace('/', "-").replace(".c", ""));
    let mut cc = Command::new("cc");
    cc.args(FLAGS).arg("-I").arg(root().join("include")).arg(root().join(source)).arg("-o").arg(&program);
    cc.arg("-L")
        .arg(libraries())
        .args(["-laqmlab", "-lm"])
        .arg(format!("-Wl,-rpath,{}", libraries().display()));
    succeeded(&mut cc);
    program
}

/// Run a program, again under valgrind if it is here, and return its output. Tables that the library makes once are not leaks.
fn run(program: &Path) -> String {
    let lines = succeeded(&mut Command::new(program));
    if has("valgrind") {
        let kinds = "definite,indirect,possible";
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--leak-check=full", "--error-exitcode=9"]);
        valgrind.args([format!("--show-leak-kinds={kinds}"), format!("--errors-for-leak-kinds={kinds}")]);
        assert_eq!(succeeded(valgrind.arg(program)), lines);
    }
    lines
}

#[test]
fn every_function_works_from_c() {
    if has("cc") {
        assert_eq!(run(&compiled("crates/c/tests/abi.c")), "ok\n");
    }
}

#[test]
fn the_example_runs_and_leaks_nothing() {
    if !has("cc") {
        return;
    }
    let lines = run(&compiled("crates/c/examples/queue.c"));
    let golden = root().join("crates/c/examples/queue.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &lines).expect("written");
    }
    assert_eq!(lines, std::fs::read_to_string(golden).expect("golden"));
}

/// Decisions of every discipline through the functions, and a changed decision that the runner must find.
#[test]
fn the_runner_of_vectors_checks_every_decision() {
    if !has("cc") {
        return;
    }
    let runner = compiled("vectors/run.c");
    let files = std::fs::read_dir(root().join("vectors")).expect("a folder");
    let mut files: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    if files.is_empty() {
        return eprintln!("skipped: vectors/ has no files");
    }
    succeeded(Command::new(&runner).args(&files));

    let vectors = std::fs::read_to_string(root().join("vectors/red.jsonl")).expect("a file");
    let changes = [
        (r#""decision":"drop""#, r#""decision":"mark""#, "decision"),
        (r#""reasons":["early"]"#, r#""reasons":["forced"]"#, "reasons"),
        (r#""packets":3,"#, r#""packets":4,"#, "packets"),
        (r#""average":4,"#, r#""average":4.00001,"#, "average"),
        (r#""random":["#, r#""random":[0.5,"#, "random numbers"),
    ];
    for (from, to, key) in changes {
        assert!(vectors.contains(from), "{from}");
        let changed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("changed.jsonl");
        std::fs::write(&changed, vectors.replacen(from, to, 1).replace(",]", "]")).expect("written");
        let output = Command::new(&runner).arg(&changed).output().expect("started");
        assert_eq!(output.status.code(), Some(1), "{from}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(key), "{from}: {output:?}");
    }
}

#[test]
fn the_page_has_the_example() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("a file");
    assert!(read("docs/embedding.md").contains(&read("crates/c/examples/queue.c")), "docs/embedding.md");
}
