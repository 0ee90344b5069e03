//! The routes of the admin address.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};

use super::{status_page::StatusPage, timeline_page::TimelinePage};
use crate::{observation::Observation, wire::health};

/// Content type of the exposition format.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All pages.
pub(crate) fn router(observation: Arc<Observation>) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/status.json", get(status))
        .route("/timeline.json", get(timeline))
        .with_state(observation)
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
