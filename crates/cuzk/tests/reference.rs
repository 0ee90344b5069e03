//! The reference pages are made from the tables that the daemon obeys, and say the same.

#[allow(dead_code, reason = "each test file uses its part of the module")]
mod binary;

use std::path::Path;

use binary::cuzk;

#[test]
fn the_reference_pages_are_those_of_the_tables() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations");
    for page in ["settings", "metrics"] {
        let made = cuzk(&["config", "reference", page]).expect_code(0).out;
        let path = folder.join(format!("{page}.md"));
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            made == kept,
            "docs/operations/{page}.md is stale: `cuzk config reference {page} > docs/operations/{page}.md`"
        );
    }
}

#[test]
fn the_printed_configuration_names_who_chose_each_value() {
    let home = tempfile::tempdir().expect("a folder");
    let variables = [("CUZK_ENGINE_LOOKAHEAD", "3")];
    let args = ["config", "print", "--set", "log.level=debug", "--json"];
    let run = binary::cuzk_with(home.path(), &variables, &args).expect_code(0);
    let lines = run.json();
    let origin = |key: &str| {
        let lines = lines.as_array().expect("a list");
        let line = lines
            .iter()
            .find(|line| line["key"] == key)
            .expect("a line");
        line["origin"].as_str().expect("text").to_owned()
    };
    assert_eq!(
        origin("engine.lookahead"),
        "from the variable CUZK_ENGINE_LOOKAHEAD"
    );
    assert_eq!(origin("log.level"), "from --set");
    assert_eq!(origin("server.listen"), "the default");
}
