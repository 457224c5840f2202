//! Placeholder until the branch with rewrap is merged.
pub(crate) async fn ask(
    _store: &crate::Store,
    _path: &object_store::path::Path,
    _query: String,
) -> object_store::Result<String> {
    unimplemented!()
}
