package graphql

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/route"
	"arbor/internal/web"
)

// A query that asks for more than there is time for is told so as GitHub does, and does not look like a
// server that fails: that wakes its operator.
func TestQueryThatTakesTooLong(t *testing.T) {
	t.Parallel()
	permit := func(ctx context.Context, _ string) (context.Context, *route.Route, error) { return ctx, nil, ctx.Err() }
	var log bytes.Buffer
	api := NewAPI(permit, Operations{}, Loaders{}, nil, slog.New(slog.NewTextHandler(&log, nil)))
	api.time = 0 // it is over before the query begins
	w := httptest.NewRecorder()
	r := web.With(httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query": "{viewer{login}}"}`)),
		&web.Info{})
	if err := api.Post(&web.Writer{ResponseWriter: w}, r); err != nil {
		t.Fatalf("the request fails: %v", err)
	}
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"RESOURCE_LIMITS_EXCEEDED"`) ||
		!strings.Contains(w.Body.String(), "ask for less at one time") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "level=INFO") {
		t.Errorf("the log has %q", &log)
	}
}
