package server

// Operation is the anchor of a route's documentation, for tests.
func Operation(r *Route) string { return r.operation() }
