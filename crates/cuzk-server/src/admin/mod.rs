//! Pages for operators and their tools, over plain HTTP: is it alive, is it ready, what does it do.

mod pages;
mod status_page;
mod timeline_page;

pub(crate) use pages::router;
