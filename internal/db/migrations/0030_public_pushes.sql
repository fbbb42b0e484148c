-- The public repositories that were pushed to last, however many private ones were.
CREATE INDEX repos_public_by_push ON repos (pushed_at, id) WHERE private = FALSE;
