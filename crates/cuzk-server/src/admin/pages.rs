//! The routes of the admin address.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{Html, IntoResponse},
    routing::{MethodRouter, get},
};

use super::{status_page::StatusPage, timeline_page::TimelinePage};
use crate::{observation::Observation, wire::health};

/// Content type of the exposition format.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";

struct Page {
    path: &'static str,
    /// What it tells.
    about: &'static str,
    handler: MethodRouter<Arc<Observation>>,
}

/// Every page but the index, which is made from them.
fn pages() -> [Page; 5] {
    let page = |path, about, handler| Page {
        path,
        about,
        handler,
    };
    [
        page("/status.json", "devices, keys, queues, jobs", get(status)),
        page("/timeline.json", "what ran when", get(timeline)),
        page("/metrics", "numbers for Prometheus", get(metrics)),
        page("/readyz", "whether new work is welcome", get(readyz)),
        page("/healthz", "whether the process answers", get(healthz)),
    ]
}

/// All pages.
pub(crate) fn router(observation: Arc<Observation>) -> Router {
    let index = index();
    let router = Router::new().route("/", get(move || async { Html(index) }));
    pages()
        .into_iter()
        .fold(router, |router, page| router.route(page.path, page.handler))
        .with_state(observation)
}

/// For people who know the address and no path.
fn index() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut html = format!("<!doctype html>\n<title>cuzk</title>\n<h1>cuzk {version}</h1>\n<ul>\n");
    for Page { path, about, .. } in pages() {
        // Writing to a String cannot fail.
        let _ = writeln!(html, "<li><a href=\"{path}\">{path}</a>: {about}</li>");
    }
    html.push_str("</ul>\n");
    html
}

/// The process answers. A degraded engine is alive: killing it would lose its work.
async fn healthz() -> &'static str {
    "ok\n"
}

/// New work is welcome.
async fn readyz(State(observation): State<Arc<Observation>>) -> impl IntoResponse {
    let snapshot = observation.snapshot();
    let code = if snapshot.draining {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::OK
    };
    let mut text = format!("{}\n", health(&snapshot));
    for reason in &snapshot.degraded {
        text.push_str(reason);
        text.push('\n');
    }
    (code, text)
}

async fn metrics(State(observation): State<Arc<Observation>>) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, EXPOSITION)],
        observation.metrics().await,
    )
}

async fn status(State(observation): State<Arc<Observation>>) -> Json<StatusPage> {
    let memory = observation.card_memory().await;
    let jobs = observation.engine().jobs();
    Json(StatusPage::of(&observation.snapshot(), &memory, &jobs))
}

async fn timeline(State(observation): State<Arc<Observation>>) -> Json<TimelinePage> {
    Json(TimelinePage::of(&observation.engine().timeline()))
}

#[cfg(test)]
mod tests {
    use axum::{
        body::{Body, to_bytes},
        http::Request,
    };
    use cuzk_engine::{Engine, EngineSettings};
    use cuzk_testkit::fake::FakeWorld;
    use tower::ServiceExt as _;

    use super::*;

    /// The status and the text at a path.
    async fn page(router: &Router, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let answer = router.clone().oneshot(request).await.expect("an answer");
        let code = answer.status();
        let body = to_bytes(answer.into_body(), 1 << 20).await.expect("a body");
        (code, String::from_utf8(body.into()).expect("text"))
    }

    #[tokio::test]
    async fn the_root_names_every_page_and_every_page_answers() {
        let settings = EngineSettings::default();
        let engine = Engine::start(settings, FakeWorld::new(&[]).parts(1)).expect("it starts");
        let router = router(Observation::new(engine));
        let (code, index) = page(&router, "/").await;
        assert_eq!(code, StatusCode::OK);
        for path in [
            "/status.json",
            "/timeline.json",
            "/metrics",
            "/readyz",
            "/healthz",
        ] {
            assert!(index.contains(&format!("<a href=\"{path}\">")), "{index}");
            assert_eq!(page(&router, path).await.0, StatusCode::OK, "{path}");
        }
        assert_eq!(page(&router, "/nothing").await.0, StatusCode::NOT_FOUND);
    }
}
