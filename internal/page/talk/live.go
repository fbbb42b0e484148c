package talk

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"arbor/internal/admission"
	"arbor/internal/issue"
	"arbor/internal/issue/live"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const (
	eventStream = "text/event-stream"
	silence     = 30 * time.Second // after which a stream sends an empty line, so that dead connections end
)

// GET /{owner}/{repo}/issues/{number}/live
//
// Events tells a page of an issue or pull request that something of it has changed, as server-sent events. The
// page names the mark up to which it knows the issue, by ?since= or Last-Event-ID. An event has nothing but the
// next mark: the page is asked for again for what is new. The stream ends after some minutes, and without another
// event when its caller may no longer see the issue. A client that does not accept such streams gets the beginning
// of one. Errors: 404, 410; 429 for a caller with too many streams, 503.
func (p *Pages) Events(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := p.issue(r, a)
	if err != nil {
		return err
	}
	since := r.Header.Get("Last-Event-ID")
	if since == "" {
		since = web.QueryOf(r).Get("since")
	}
	stream, err := p.Live.Open(admission.HolderOf(r.Context()), i.ID, since)
	if err != nil {
		return err
	}
	defer stream.Close()
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	if send(w, "retry: 3000\n\n") && strings.Contains(r.Header.Get("Accept"), eventStream) {
		p.follow(w, r, a, i, stream)
	}
	return nil
}

// follow sends events until the stream ends. Between two of them the request holds nothing that others wait for.
func (p *Pages) follow(w http.ResponseWriter, r *http.Request, a *repo.Access, i *issue.Issue, stream *live.Stream) {
	ctx, ticket := r.Context(), admission.From(r.Context())
	ticket.Leave()
	end, quiet := time.NewTimer(live.Lasts), time.NewTicker(silence)
	defer end.Stop()
	defer quiet.Stop()
	for sent := true; sent; {
		select {
		case <-ctx.Done():
			return
		case <-stream.Ended():
			return
		case <-end.C:
			return
		case <-quiet.C:
			sent = send(w, ":\n\n")
		case mark := <-stream.Said():
			err := ticket.Enter(ctx)
			if err == nil && mark != "" {
				err = p.Live.Holds(ctx, a, i.ID)
			}
			ticket.Leave()
			if err != nil || mark == "" {
				return
			}
			sent = send(w, fmt.Sprintf("id: %s\ndata: changed\n\n", mark))
		}
	}
}

// send sends a part of a stream at once, and reports whether the client is there.
func send(w http.ResponseWriter, text string) bool {
	if _, err := w.Write([]byte(text)); err != nil {
		return false
	}
	return http.NewResponseController(w).Flush() == nil
}
