//! What the daemon was told, by whom, and what follows from it. A setting has one row in a table, from which come its parser,
//! its variable, the example file, the reference page and the suggestion for a misspelled key.

mod catalog;
mod load;
mod origin;
mod pages;
mod serve;
mod syntax;

pub(crate) use catalog::{SETTINGS, Setting, setting_of_variable};
pub(crate) use load::{Layers, Settings};
pub(crate) use origin::SettingOrigin;
pub(crate) use pages::{example, reference};
pub(crate) use serve::{LogFormat, ServeConfig, engine_settings};
pub(crate) use syntax::{Syntax, Value};
